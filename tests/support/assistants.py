"""People of the tests of assistants, as fixtures that a conftest imports, and their conversations."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import Permission

from chat.catalog import catalog
from chat.conversations.turns.commands import SendMessage
from chat.conversations.turns.planner import Plan, Planner
from chat.models import Assistant, User


def plan(user: User, content: str = "Who has kings?", **sent: Any) -> Plan:
    command = SendMessage(content=content, client_key=uuid.uuid4(), **sent)
    return Planner(catalog.current.get()).plan(user, command)


def begun(user: User, assistant: Assistant) -> Plan:
    """The stored plan of a conversation with the assistant, of one question."""
    made = plan(user, assistant=assistant.pk)
    made.conversation.save()
    for message in made.added:
        message.save()
    made.conversation.active_leaf = made.reply
    made.conversation.save()
    return made


@pytest.fixture
def bob() -> User:
    return User.objects.create_user("bob")


@pytest.fixture
def staff() -> User:
    """One who may publish assistants."""
    made = User.objects.create_user("carol", is_staff=True)
    made.user_permissions.add(Permission.objects.get(codename="publish_assistant"))
    return made
