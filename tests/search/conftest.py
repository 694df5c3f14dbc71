"""Conversations of made people, stored and indexed."""

from collections.abc import Callable
from datetime import UTC

import pytest

from chat.models import User
from chat.search import index, results
from chat.search.query import parse
from tests.support.message_trees import Tree, conversation

Say = Callable[..., str]


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice")


@pytest.fixture
def say(alice: User) -> Say:
    """Store a text as a message of a new conversation, and return its id."""

    def stored(text: str, title: str = "A talk", who: User = alice, **fields: object) -> str:
        talk = conversation(who)
        talk.title = title
        for name, value in fields.items():
            setattr(talk, name, value)
        talk.save()
        message = Tree(talk).message(None, text)
        message.save()
        index.add([index.title_of(talk), index.message_of(message, who.pk)])
        return str(message.pk)

    return stored


@pytest.fixture
def found(alice: User) -> Callable[..., list[str]]:
    """Return the texts that a query finds, the best first."""

    def search(typed: str, who: User = alice) -> list[str]:
        return [each.snippet.text for each in results.search(who.pk, parse(typed, UTC)).results]

    return search
