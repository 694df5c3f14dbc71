"""The keyboard shortcuts, in a dialog of the chat page and on a page of their own."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop, pgettext_lazy

from ..requests import access
from ..requests.request_fields import is_part


@dataclass(frozen=True, slots=True)
class Shortcut:
    """`keys`: alternatives, each with its keys in the order in which they are pressed.

    The template writes the keys as they stand on a keyboard of the active language.
    """

    does: Promise
    keys: tuple[tuple[str | Promise, ...], ...]


KEYS = (
    gettext_noop("Ctrl"),
    gettext_noop("Shift"),
    gettext_noop("Enter"),
    gettext_noop("Esc"),
    gettext_noop("End"),
    gettext_noop("Page Up"),
    gettext_noop("Page Down"),
)
# Their handlers are in static/js; tests/views/test_shortcuts.py checks that both lists agree.
SHORTCUTS = (
    Shortcut(_("Send the message"), (("Ctrl", "Enter"),)),
    Shortcut(_("Stop the reply"), (("Esc",),)),
    Shortcut(_("Edit your last message, from the empty box"), (("↑",),)),
    Shortcut(_("Go to the message box"), (("Shift", "Esc"),)),
    Shortcut(_("Search your chats"), (("Ctrl", "K"),)),
    Shortcut(_("Start a new chat"), (("Ctrl", "Shift", "O"),)),
    Shortcut(_("Show or hide the chats"), (("Ctrl", "Shift", "S"),)),
    Shortcut(_("Rename a chat in the list"), (("F2",),)),
    Shortcut(_("Scroll the chat"), (("Page Up",), ("Page Down",))),
    Shortcut(_("Go to its start or end, from the empty box"), ((pgettext_lazy("key", "Home"),), ("End",))),
    Shortcut(_("Show the keyboard shortcuts"), (("?",), ("Ctrl", "/"))),
)


@access.require_methods("GET", "HEAD", page=True)
def shortcuts(request: HttpRequest) -> HttpResponse:
    """Return the page; to the chat page's own script only the table."""
    access.get_user(request)  # the page is part of the chat
    template = "chat/_shortcuts.html" if is_part(request) else "chat/shortcuts.html"
    return render(request, template, {"shortcuts": SHORTCUTS})
