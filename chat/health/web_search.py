"""The checks of the web search and of pages with scripts, which cost a fraction of a cent at most."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext as _

from chat.upstream.errors import ErrorKind, UpstreamError

from . import BAD, GOOD, NOTE, Finding

if TYPE_CHECKING:
    from chat.conversations.tools.web_search import SearchProvider

TEST_QUERY = "weather"
REJECTED = {ErrorKind.AUTH, ErrorKind.NOT_PERMITTED}


async def check_web_search() -> Finding:
    """Search by the provider of this site, which is imported now."""
    from chat.conversations.tools.search_providers import provider

    named = settings.WEB_SEARCH or "cloudflare"
    return await finding(named, provider(named), is_wanted=bool(settings.WEB_SEARCH))


async def finding(named: str, found: "SearchProvider", *, is_wanted: bool) -> Finding:
    """Return what one search says. A failure is bad only if the settings want the search."""
    name = _("Web search")
    try:
        await found.search(TEST_QUERY)
    except UpstreamError as error:
        message, advice = _told(named, error)
        return Finding(name, BAD if is_wanted else NOTE, message, advice)
    return Finding(name, GOOD, _("Models can search the web."))


async def check_page_rendering() -> Finding:
    """Let the browser of READ_PAGE_RENDERING show a page of one word."""
    from chat.conversations.tools.page_fetch import browsed

    name = _("Pages with scripts")
    try:
        await browsed({"html": "<p>Check</p>"})
    except UpstreamError as error:
        if error.status in (401, 403):
            message = _("Cloudflare rejects it, so pages that need scripts can’t be read.")
            return Finding(name, BAD, message, _("Add the permission Browser Run: Edit to the token."))
        message = _("The browser failed, so pages that need scripts can’t be read at the moment.")
        return Finding(name, NOTE, message, _("Workers Free has 10 minutes of it a day. Try again later."))
    return Finding(name, GOOD, _("Models can read pages that need scripts."))


def _told(named: str, error: UpstreamError) -> tuple[str, str]:
    if error.kind in REJECTED:
        message = _("The service rejects the search, so models can’t search the web.")
        return message, {
            "cloudflare": _("Add the permissions Workers AI: Read and AI Gateway: Read to the token."),
            "searxng": _("Add json to search.formats in the settings of SearXNG."),
        }.get(named, _("Check BRAVE_API_KEY."))
    if error.kind in (ErrorKind.CREDITS, ErrorKind.QUOTA):
        message = _("The account has no credit for searches, so models can’t search the web.")
        return message, _("Add credit in the provider’s dashboard.")
    message = _("The search failed, so models can’t search the web at the moment.")
    return message, _("Check its address and whether this machine can reach it.")
