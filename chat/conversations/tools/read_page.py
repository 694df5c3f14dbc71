"""The tool that reads a web page."""

import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from chat.db.fair_executor import ConcurrencyLimit
from chat.limits import MAX_PERMISSION_CHARS

from . import addresses, page_fetch, page_text
from .page_fetch import Fetched
from .page_text import HTML, PageText, WithoutText
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
# A page that scripts fill has a heading, a notice or “Loading” before they run. This is more than these have,
# and less than a paragraph of text.
FEW_CHARACTERS = 200
SCRIPT = re.compile(rb"<script[\s>]", re.IGNORECASE)
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
        host = addresses.shown_host(url := addresses.parsed(address))
        question = _("The model wrote this address itself. If you allow it, %(host)s gets the whole address.")
        key = f"read_page {url.host_port_subcomponent}"[:MAX_PERMISSION_CHARS]
        return Permission(key, question % {"host": host})

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        address = arguments.get("url")
        if not isinstance(address, str) or not address.strip():
            raise ToolFailed(_("The address is missing."))
        url = addresses.parsed(address)
        async with READINGS.slot(context.user), page_fetch.fetched(url, context.user) as fetched:
            page, cost = await _read(fetched, context.user)
        source = Source(page.title, str(fetched.url), page.text, page.date)
        # A page that has moved is known by its new address, too.
        links = page.links | {str(fetched.url)}
        return ToolResult(page.title, (source,), CUT if page.is_cut else "", links, cost=cost)


async def _read(fetched: Fetched, person: int) -> tuple[PageText, float]:
    """Return the text and its cost. A page that needs scripts is opened in a browser, if the site has one."""
    page, problem = None, ToolFailed("")
    try:
        page = await page_text.read(fetched, person)
    except WithoutText as error:
        problem = error
    if _needs_scripts(fetched, page):
        try:
            async with page_fetch.rendered(fetched) as (shown, cost):
                whole = await page_text.read(shown, person)
            return (whole if page is None or len(whole.text) > len(page.text) else page), cost
        except WithoutText:
            problem = ToolFailed(_("The page holds no text."))
        except ToolFailed as failed:
            problem = failed
    if page is None:
        raise problem
    return page, 0.0


def _needs_scripts(fetched: Fetched, page: PageText | None) -> bool:
    """Return True for a page of the public web with scripts and (nearly) no text, if they can be run."""
    if settings.READ_PAGE_RENDERING == "none" or addresses.is_allowed(fetched.url):
        return False
    if fetched.media_type not in HTML or (page is not None and len(page.text) >= FEW_CHARACTERS):
        return False
    fetched.file.seek(0)
    return SCRIPT.search(fetched.file.read()) is not None
