"""Which tools this site offers, by the names that a person switches on."""

from collections.abc import Callable, Iterable, Sequence

from django.conf import settings

from chat.catalog import config

from . import permission
from .my_chats import SearchMyChats
from .remember import Remember
from .tool import Tool


def search_provider() -> str:
    """Return the provider of WEB_SEARCH; by default Cloudflare, if there is an account that may search."""
    named = str(settings.WEB_SEARCH)
    if named in ("", "cloudflare") and config.account() is None:
        return "none"
    return named or ("none" if permission.is_refused() else "cloudflare")


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


def offered() -> list[str]:
    """Return the names that a person may switch on, in the order in which a page shows them."""
    return [name for name, (_make, is_offered) in _TOOLS.items() if is_offered()]


def tools_for(names: Iterable[str]) -> list[Tool]:
    """Return the tools that these names bring, as far as this site offers them still."""
    wanted = set(names)
    found = [tool for name in offered() if name in wanted for tool in _TOOLS[name][0]()]
    return [*found, Remember()] if Remember.name in wanted else found
