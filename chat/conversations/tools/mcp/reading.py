"""Reading the lists of tools: at the start, every ten minutes, and when the administration asks."""

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from chat.db.background import BackgroundTasks, log_failure
from chat.db.executor import run_in_db, write_lock
from chat.models import CatalogState, McpServer, McpTool

from . import schemas, servers

if TYPE_CHECKING:
    from .client import Listed

POLL_SECONDS = 2.5  # between two looks at what the administration has changed
NAME = "the list of a server’s tools"
NOT_INSTALLED = gettext_noop("The packages for tool servers are not installed: run “make install-mcp”.")
NO_ANSWER = gettext_noop("The server did not answer in time.")
NO_SERVER = gettext_noop("The server could not be reached, or it does not speak MCP.")
BROKEN = gettext_noop("The server’s answer breaks the protocol: %(detail)s")
NOT_FIT = gettext_noop("These tools cannot be offered: %(detail)s")

logger = logging.getLogger(__name__)


class ToolWatcher:
    """A background task that follows the administration's list, and reads the tools when they are due."""

    def __init__(self, version: Callable[[], int]) -> None:
        """`version` is that of the site's lists, as this process has seen it last."""
        self._version = version
        self._loaded = -1
        self._tasks = BackgroundTasks()

    async def start(self) -> None:
        await self._load()
        if servers.names():
            await run_in_db(McpServer.objects.make_due)
        await self.poll()
        self._tasks.repeat(self.poll, lambda: POLL_SECONDS * random.uniform(0.8, 1.2), NAME)

    async def stop(self) -> None:
        await self._tasks.cancel()

    async def poll(self) -> None:
        """Load what has changed, and read the lists that are due, each in one process of the site."""
        if self._version() != self._loaded:
            await self._load()
        for key in await run_in_db(McpServer.objects.claim_due) if servers.names() else ():
            self._tasks.start(log_failure(read(key), NAME))

    async def _load(self) -> None:
        # A change made after this look has a later version, so the next poll loads it.
        self._loaded = self._version()
        await run_in_db(servers.load)


async def read(key: int) -> None:
    """Read a server's tools and store them, or what was wrong."""
    row = await run_in_db(McpServer.objects.filter(pk=key).first)
    if row is not None:
        await run_in_db(_store, row, *await _asked(row))


async def _asked(row: McpServer) -> tuple[list[McpTool] | None, str]:
    """Return the tools that the server lists, unsaved, and what is wrong; None if there is no list."""
    try:
        await servers.load_client()
    except ImportError:
        return None, NOT_INSTALLED
    from . import client

    try:
        async with asyncio.timeout(settings.TOOL_CALL_SECONDS):
            listed = await client.list_tools(row.url, row.headers)
    except servers.HeaderProblem as problem:
        return None, str(problem)
    except TimeoutError:
        return None, NO_ANSWER
    except client.ServerFailed as failure:
        where = schemas.description(failure.broken)
        return None, f"{BROKEN}\n{where}" if where else NO_SERVER
    return await asyncio.to_thread(_fit, row, listed)


def _fit(row: McpServer, listed: "Sequence[Listed]") -> tuple[list[McpTool], str]:
    """Return those of the tools that can be offered, and a sentence about others."""
    tools, unfit = [], []
    for each in listed:
        try:
            schemas.check_name(each.name)
            parameters = schemas.parameters(each.schema)
        except (schemas.Unfit, RecursionError):
            unfit.append(repr(each.name[:40]))
            continue
        words = schemas.description(each.description)
        told = {"description": words, "parameters": parameters, "read_only": each.read_only}
        tools.append(McpTool(server=row, name=each.name, **told))
    return tools, f"{NOT_FIT}\n{', '.join(unfit)}" if unfit else ""


def _store(row: McpServer, found: Sequence[McpTool] | None, problem: str) -> None:
    """Store what was read. Processes load it only if it differs from what there was."""
    told = {"error": problem[:300]} | ({} if found is None else {"read": timezone.now()})
    with write_lock(), transaction.atomic():
        if not McpServer.objects.filter(pk=row.pk, url=row.url, headers=row.headers).update(**told):
            return  # another one's list, since
        if found is not None and _merge(row, found):
            logger.info("the tools of the server %s have changed", row.name)
            CatalogState.objects.bump_version()


def _merge(row: McpServer, found: Sequence[McpTool]) -> bool:
    """Bring the stored tools up to date; return True if any has changed."""
    known = {tool.name: tool for tool in row.tools.all()}
    listed = {tool.name: tool for tool in reversed(found)}  # of two with one name the first
    changed = False
    for name, tool in listed.items():
        before = known.get(name)
        if before is None:
            tool.asks_first = not tool.read_only
            tool.save()
        elif before.listed and before.declared == tool.declared:
            continue
        else:
            # Who let it run unasked had read that it changes nothing.
            told = tool.declared | {"asks_first": before.asks_first or not tool.read_only}
            McpTool.objects.filter(pk=before.pk).update(**told, listed=True)
        changed = True
    gone = [tool for name, tool in known.items() if name not in listed and tool.listed]
    for tool in gone:
        if tool.accepted is None:
            tool.delete()
        else:
            McpTool.objects.filter(pk=tool.pk).update(listed=False)
    return changed or bool(gone)
