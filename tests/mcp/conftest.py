"""The hosts of a file's tests, and no servers in memory before and after."""

import asyncio
from collections.abc import Iterator

import pytest
from mcp.server import MCPServer

from chat.conversations.tools.mcp import servers
from tests.mcp.hosts import Host, hosted, time_server
from tests.support.db_threads import close_connections
from tests.support.module_server import database, fake, server


@pytest.fixture(autouse=True)
def _none_in_memory() -> Iterator[None]:
    yield
    servers._servers = {}


@pytest.fixture(scope="module", autouse=True)
def _no_connection_left() -> Iterator[None]:
    yield
    asyncio.run(close_connections())


@pytest.fixture(scope="module")
def times() -> Iterator[Host]:
    with hosted(time_server()) as host:
        yield host


@pytest.fixture
def notes() -> Iterator[Host]:
    """A server whose tools the test makes."""
    with hosted(MCPServer("notes")) as host:
        yield host


@pytest.fixture(autouse=True)
def _quiet(times: Host) -> None:
    times.forget()
