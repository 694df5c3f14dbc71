"""The tool that reads a web page."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from chat.db.fair_executor import ConcurrencyLimit
from chat.limits import MAX_PERMISSION_CHARS

from . import addresses, page_fetch, page_text
from .tool import CallContext, Permission, Source, ToolFailed, ToolResult

READINGS = ConcurrencyLimit(3)  # of one person at a time
DECLARATION = {
    "name": "read_page",
    "description": "Read a web page or a PDF by its address, such as a result of web_search or an address "
    "that the user has written. Returns its text and the addresses that it links to.",
    "parameters": {
        "type": "object",
        "properties": {"url": {"type": "string", "description": "The address, beginning with https://"}},
        "required": ["url"],
    },
}
CUT = "The page is longer: only its beginning is here."


class ReadPage:
    name = "read_page"

    @property
    def declaration(self) -> dict[str, Any]:
        return DECLARATION

    def permission(self, arguments: Mapping[str, Any], context: CallContext) -> Permission | None:
        """Ask for the host of an address that nobody but the model has named.

        What can't be read is refused without asking.
        """
        key = addresses.key(address := str(arguments.get("url", "")))
        if not key or key in set(map(addresses.key, context.known)):
            return None
        host = addresses.parsed(address).host or ""
        question = _("The model wrote this address itself. If you allow it, %(host)s gets the whole address.")
        return Permission(f"read_page {host}"[:MAX_PERMISSION_CHARS], question % {"host": host})

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        address = arguments.get("url")
        if not isinstance(address, str) or not address.strip():
            raise ToolFailed(_("The address is missing."))
        url = addresses.parsed(address)
        async with READINGS.slot(context.user), page_fetch.fetched(url, context.user) as fetched:
            page = await page_text.read(fetched, context.user)
        source = Source(page.title, str(fetched.url), page.text, page.date)
        # A page that has moved is known by its new address, too.
        links = page.links | {str(fetched.url)}
        return ToolResult(page.title, (source,), CUT if page.is_cut else "", links, cost=0.0)
