"""Conversations of made people, stored and indexed."""

import uuid
from collections.abc import Callable, Sequence
from datetime import UTC

import pytest

from chat.models import Conversation, Message, User
from chat.search import index, results
from chat.search.query import parse
from tests.support.message_trees import Tree, conversation

Say = Callable[..., str]


class Talk:
    """Stores conversations of messages in a row, the first a question, and returns their ids."""

    def __init__(self, who: User) -> None:
        self._who = who

    def __call__(self, title: str, texts: Sequence[str]) -> list[uuid.UUID]:
        talk = conversation(self._who)
        talk.title = title
        talk.save()
        index.add([index.title_of(talk)])
        return self._store(talk, None, texts)

    def more(self, after: uuid.UUID, texts: Sequence[str]) -> list[uuid.UUID]:
        last = Message.objects.get(pk=after)
        return self._store(last.conversation, last, texts)

    def _store(self, talk: Conversation, parent: Message | None, texts: Sequence[str]) -> list[uuid.UUID]:
        tree, made = Tree(talk), []
        for text in texts:
            parent = tree.message(parent, text)
            parent.save()
            made.append(parent)
        index.add(index.message_of(each, self._who.pk) for each in made)
        return [each.pk for each in made]


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
def talk(alice: User) -> Talk:
    return Talk(alice)


@pytest.fixture
def found(alice: User) -> Callable[..., list[str]]:
    """Return the texts that a query finds, the best first."""

    def search(typed: str, who: User = alice) -> list[str]:
        found = results.search(who.pk, parse(typed, UTC)).results
        return [each.snippet.text or each.title.text for each in found]

    return search
