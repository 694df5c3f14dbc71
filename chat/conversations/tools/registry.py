"""Which tools this site offers, by the names that a person switches on."""

import time
from collections.abc import Callable, Iterable, Sequence

from django.conf import settings

from chat.catalog import config
from chat.models import User
from chat.models.mcp import PREFIX
from chat.upstream.client import Account
from chat.upstream.errors import ErrorKind, UpstreamError

from .mcp import servers
from .mcp.tool import RemoteTool
from .my_chats import SearchMyChats
from .remember import Remember
from .tool import Tool

# Cloudflare's search needs the permissions Workers AI: Read and AI Gateway: Read. That a token lacks them is
# forgotten after a while, because it can be given more; a search that succeeds ends it, too.
FORBIDDEN = {ErrorKind.AUTH, ErrorKind.NOT_PERMITTED}
REFUSED_SECONDS = 3_600.0

refused_until: dict[Account, float] = {}


def search_provider() -> str:
    """Return the provider of WEB_SEARCH; by default Cloudflare, if there is an account that may search."""
    named = str(settings.WEB_SEARCH)
    if named not in ("", "cloudflare"):
        return named
    account = config.account()
    if account is None or (not named and refused_until.get(account, 0.0) > time.monotonic()):
        return "none"
    return "cloudflare"


def learn_from_search(account: Account, error: UpstreamError | None) -> None:
    """Remember that the account was refused, if that is what the error says."""
    if error is None or error.kind not in FORBIDDEN:
        refused_until.pop(account, None)
    else:
        refused_until.clear()
        refused_until[account] = time.monotonic() + REFUSED_SECONDS


def is_web_search_offered() -> bool:
    """Return True if people can switch the search on. Cheap: it asks nobody."""
    return search_provider() != "none"


def _web_tools() -> Sequence[Tool]:
    """Return the search and the reading of pages, imported where a provider is set."""
    from .read_page import ReadPage
    from .search_providers import provider
    from .web_search import WebSearch

    return [WebSearch(provider(search_provider())), ReadPage()]


# By the name that a request gives: the tools that it brings, and whether they are offered.
_TOOLS: dict[str, tuple[Callable[[], Sequence[Tool]], Callable[[], bool]]] = {
    "web_search": (_web_tools, is_web_search_offered),
    "search_my_chats": (lambda: [SearchMyChats()], lambda: True),
}


def offered(user: User) -> list[str]:
    """Return the names that a person may switch on, in the order in which a page shows them."""
    return [*_own(), *(server.switch for server in servers.offered_to(user))]


def _own() -> list[str]:
    return [name for name, (_make, is_offered) in _TOOLS.items() if is_offered()]


def still_offered(names: Sequence[str], user: User) -> list[str]:
    """Return the names without those of tool servers that this person may not use, or not any more."""
    if not any(name.startswith(PREFIX) for name in names):
        return list(names)
    found = {server.switch for server in servers.offered_to(user)}
    return [name for name in names if not name.startswith(PREFIX) or name in found]


def tools_for(names: Iterable[str]) -> list[Tool]:
    """Return the tools that these names bring, as far as this site offers them still.

    The names are those of a run, which were checked for its person when it was stored.
    """
    wanted = dict.fromkeys(names)
    found = [tool for name in _own() if name in wanted for tool in _TOOLS[name][0]()]
    for server in filter(None, map(servers.find, wanted)):
        found += [RemoteTool(server, tool) for tool in server.tools]
    return [*found, Remember()] if Remember.name in wanted else found
