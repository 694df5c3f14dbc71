"""Which tools this site offers, by the names that a person switches on."""

from collections.abc import Callable, Iterable, Sequence

from .my_chats import SearchMyChats
from .tool import Tool

# By the name that a request gives: the tools that it brings.
_TOOLS: dict[str, Callable[[], Sequence[Tool]]] = {
    "search_my_chats": lambda: [SearchMyChats()],
}


def offered() -> list[str]:
    """Return the names that a person may switch on, in the order in which a page shows them."""
    return list(_TOOLS)


def tools_for(names: Iterable[str]) -> list[Tool]:
    """Return the tools that these names bring, as far as this site offers them still."""
    wanted = set(names)
    return [tool for name in offered() if name in wanted for tool in _TOOLS[name]()]
