"""A tool of a tool server, as a model calls it."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from chat.conversations.tools.tool import CallContext, Permission, ToolFailed, ToolResult
from chat.db.fair_executor import ConcurrencyLimit
from chat.limits import MAX_STEP_SUMMARY_CHARS
from chat.wire.text import sanitize

from . import servers
from .servers import HeaderProblem, Server, ServerTool

CALLS = ConcurrencyLimit(3)  # of one person at a time
FENCE_CHARS = 200


class RemoteTool:
    """One tool of one server."""

    def __init__(self, server: Server, tool: ServerTool) -> None:
        self.name = tool.function
        self._server = server
        self._tool = tool

    @property
    def declaration(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self._tool.description or self._tool.name,
            "parameters": self._tool.parameters,
        }

    def permission(self, arguments: Mapping[str, Any], context: CallContext) -> Permission | None:
        """Ask for the tool, whatever it is sent, if the administration wants the person asked.

        What was allowed for a conversation is this tool at this address, as it is declared.
        """
        if not self._tool.asks_first:
            return None
        question = _("If you allow it, %(server)s gets this.") % {"server": self._server.label}
        what = json.dumps([self._server.url, self.declaration], sort_keys=True)
        return Permission(f"mcp {self.name} {hashlib.sha256(what.encode()).hexdigest()[:16]}", question)

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        await servers.load_client()
        from . import client

        if not await servers.is_offered(self._server, self._tool, context.user):  # since the run began
            raise ToolFailed(_("This tool isn’t offered any more."))
        server, names = self._server, {"server": self._server.label}
        try:
            async with CALLS.slot(context.user):
                answer = await client.call(server.url, server.headers, self._tool.name, arguments)
        except HeaderProblem:
            raise ToolFailed(_("%(server)s is not set up. Tell your administrator.") % names) from None
        except client.ServerFailed as failure:
            words = _("%(server)s could not be used.") % names
            raise ToolFailed(words, _fenced(failure.said) if failure.said else "") from None
        if answer.is_error:
            raise ToolFailed(_line(answer.text) or _("The tool failed."), _fenced(answer.text))
        return ToolResult(_line(answer.text) or _("No result"), text=_fenced(answer.text))


def _line(text: str) -> str:
    """Return the beginning of a text as one line for the person, whom nothing in it can mislead by layout."""
    return " ".join(sanitize(text[: 4 * MAX_STEP_SUMMARY_CHARS]).split())[:MAX_STEP_SUMMARY_CHARS]


def _fenced(text: str) -> str:
    """Return a result for the model, in a fence that the text cannot close, nor with that of a source."""
    text = sanitize(text)[: settings.TOOL_MAX_RESULT_KB * 1_000 - FENCE_CHARS]
    text = re.sub(r"<(?=[\s/]*(?:result|source))", "‹", text, flags=re.IGNORECASE)
    return f"<result>\n{text}\n</result>"
