"""The check of a tool server: its tools are read, which stores them too."""

from django.utils.translation import gettext as _

from chat.conversations.tools.mcp import reading
from chat.db.executor import run_in_db
from chat.models import McpServer

from . import BAD, GOOD, Finding


async def check_tool_server(name: str) -> Finding:
    """Read the tools of a server now."""
    rows = McpServer.objects.filter(name=name)
    title = _("Tool server “%(name)s”") % {"name": name}
    if (before := await run_in_db(rows.first)) is not None:
        await reading.read(before.pk)
    row = await run_in_db(rows.first)
    if row is not None and row.problem:
        advice = _("Check its address and its headers in the administration.")
        return Finding(title, BAD, row.problem, advice)
    return Finding(title, GOOD, _("Its tools can be read."))
