"""Django's client in the test's own process: no server, and the views' own database threads."""

import asyncio
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from chat.catalog import catalog
from chat.engine import engine
from chat.models import User
from tests.support.assistants import bob, staff
from tests.support.db_threads import close_connections
from tests.support.readings import forget_readings


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice")


@pytest.fixture(autouse=True)
def no_engine_left(alice: User) -> Iterator[None]:
    """Undo what an engine that a view has started leaves behind: threads with connections, and its models."""
    models = catalog.current.get()
    yield
    asyncio.run(close_connections())  # before PostgreSQL has to delete the database
    asyncio.run(_stop_heartbeat())
    catalog.current.replace(models)


async def _stop_heartbeat() -> None:
    """Discard the engine: its heartbeat has a database thread of its own."""
    started, engine._engine = engine._engine, None
    if started:
        await started.heartbeat.stop()


@pytest.fixture
def alice_client(client: Client, alice: User) -> Client:
    """Alice's browser."""
    client.force_login(alice)
    return client


@pytest.fixture
def reviewer(client: Client) -> Iterator[Client]:
    erin = User.objects.create_user("erin", is_staff=True)
    erin.user_permissions.add(Permission.objects.get(codename="view_conversation"))
    client.force_login(erin)
    yield client
    forget_readings()
