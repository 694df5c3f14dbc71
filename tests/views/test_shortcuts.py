"""The table of keyboard shortcuts and the handlers in the page's modules name the same keys."""

import re
from pathlib import Path

from chat.views.conversations.shortcuts import SHORTCUTS

SCRIPTS = Path(__file__).parents[2] / "static" / "js"
LISTED = {"+".join(map(str, keys)) for row in SHORTCUTS for keys in row.keys}
# The file that handles each of them, and a line of it.
HANDLERS = {
    "Ctrl+Enter": ("composer.js", "event.ctrlKey || event.metaKey"),
    "Esc": ("composer.js", "key === 'Escape' && this.busy"),
    "↑": ("composer.js", "key === 'ArrowUp' && !value"),
    "F2": ("chat.js", "code === 'F2'"),
    "Page Up": ("background.js", "PageUp:"),
    "Page Down": ("background.js", "PageDown:"),
    "Home": ("background.js", "Home:"),
    "End": ("background.js", "End:"),
    "?": ("background.js", "key === '?'"),
    "Ctrl+K": ("chat.js", "k: 'search'"),
    "Ctrl+/": ("chat.js", "'/': 'shortcuts'"),
}


def of_the_page() -> set[str]:
    """The shortcuts with Shift, from the table in chat.js."""
    (table,) = re.findall(r"^const SHORTCUTS = \{(.*)\}", (SCRIPTS / "chat.js").read_text(), re.MULTILINE)
    codes = re.findall(r"(\w+): '", table)
    return {"Shift+Esc" if code == "Escape" else f"Ctrl+Shift+{code.removeprefix('Key')}" for code in codes}


def test_each_shortcut_is_listed_and_each_listed_one_exists() -> None:
    assert of_the_page() | set(HANDLERS) == LISTED


def test_each_handler_stands_where_the_test_says() -> None:
    assert [key for key, (name, code) in HANDLERS.items() if code not in (SCRIPTS / name).read_text()] == []
