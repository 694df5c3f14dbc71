"""The tool servers as this process has read them last from the database. Looking at them asks nobody."""

import asyncio
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_noop

from chat.db.executor import run_in_db
from chat.models import McpServer, McpTool, User
from chat.models.mcp import PREFIX

from .schemas import function_name

# The only way to write a header: the value is not here, but in the environment.
HEADER = re.compile(r"([A-Za-z0-9-]{1,60}):[ \t]*(?:([A-Za-z]{1,20})[ \t]+)?\$(MCP_[A-Z0-9_]{1,80})")

NO_HEADER = gettext_noop("“%(detail)s” is not a header with its value from the environment.")
NOT_SET = gettext_noop("%(detail)s is not set in the environment of this site.")


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool that the administration has allowed, as it is declared to models."""

    function: str
    name: str
    description: str
    parameters: dict[str, Any]
    asks_first: bool


@dataclass(frozen=True, slots=True)
class Server:
    """A server; `groups` are those of the people who may use it, empty for everybody."""

    name: str
    label: str
    url: str
    headers: str
    enabled: bool
    groups: frozenset[int]
    tools: tuple[ServerTool, ...]

    @property
    def switch(self) -> str:
        """The name that a request gives among its tools."""
        return PREFIX + self.name


class HeaderProblem(ValueError):
    """A header that cannot be sent; for the administration. See `McpServer.error`."""

    def __init__(self, sentence: str, detail: str) -> None:
        super().__init__(f"{sentence}\n{detail}")


_servers: dict[str, Server] = {}


def load() -> None:
    """Read the servers from the database, in three queries; in one if there are none."""
    global _servers
    rows = McpServer.objects.prefetch_related("tools", "groups")
    _servers = {row.name: _server(row) for row in rows}


def _server(row: McpServer) -> Server:
    tools = [_tool(row, tool) for tool in row.tools.all() if tool.listed and tool.is_allowed]
    groups = frozenset(group.pk for group in row.groups.all())
    return Server(row.name, row.label, row.url, row.headers, row.enabled, groups, tuple(tools))


def _tool(row: McpServer, tool: McpTool) -> ServerTool:
    function = function_name(row.name, tool.name)
    return ServerTool(function, tool.name, tool.description, tool.parameters, tool.asks_first)


def names() -> list[str]:
    """Return the names of the servers that are asked for their tools."""
    return [server.name for server in _servers.values() if server.enabled]


def find(switch: str) -> Server | None:
    """Return an offered server that has tools, by the name in a request."""
    found = _servers.get(switch.removeprefix(PREFIX)) if switch.startswith(PREFIX) else None
    return found if found and found.enabled and found.tools else None


async def load_client() -> None:
    """Import the client in a thread: the SDK takes seconds. Raises ImportError where it is not installed."""
    await asyncio.to_thread(import_module, "chat.conversations.tools.mcp.client")


async def is_offered(server: Server, tool: ServerTool, user: int) -> bool:
    """Return True if this person may still call the tool there, as it was when the run began or went on.

    False too if the administration wants people asked since.
    """
    found = find(server.switch)
    now = [each for each in found.tools if each.function == tool.function] if found else []
    if not found or not now or now[0].asks_first > tool.asks_first:
        return False
    if (found.url, found.headers) != (server.url, server.headers):  # another machine, or not with this key
        return False
    mine = User.groups.through.objects.filter(user=user, group__in=found.groups)
    return not found.groups or await run_in_db(mine.exists)


def offered_to(user: User) -> list[Server]:
    """Return the servers that this person may use; costs a query only if one is for some groups only."""
    found = [server for name in _servers if (server := find(PREFIX + name))]
    if not any(server.groups for server in found):
        return found
    mine = set(user.groups.values_list("pk", flat=True))
    return [server for server in found if not server.groups or server.groups & mine]


def words_of(function: str) -> dict[str, str] | None:
    """Return the names of tool and server for people; None if no server can have this tool."""
    name, parted, tool = function.partition("__")
    if not parted:
        return None
    found = _servers.get(name)
    return {"tool": tool, "server": found.label if found else name}


def headers_of(text: str) -> dict[str, str]:
    """Return the headers with their values from the environment. Raises HeaderProblem."""
    return dict(_headers(line.strip() for line in text.splitlines() if line.strip()))


def _headers(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        found = HEADER.fullmatch(line)
        if found is None:
            raise HeaderProblem(NO_HEADER, line[:40])
        header, scheme, variable = found.groups()
        value = settings.MCP_SECRETS.get(variable)
        if not value:
            raise HeaderProblem(NOT_SET, variable)
        yield header, f"{scheme} {value}" if scheme else value
