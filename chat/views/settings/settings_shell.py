"""The settings and the library: sections with an address each, in the shell of the chat.

A page's own script gets a section without the shell: static/js/settings_dialog.js shows it over the chat.

A new secret takes the way from the form that made it to the section that shows it once. The form is answered
with a redirect, so that a reload makes no second one. A cookie takes the secret along: only the browser that
shows it gets it, and the server stores only its digest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chat.accounts.timezones import timezone_of
from chat.sharing import links

from ..conversations.sidebar import sidebar
from ..requests import access
from ..requests.request_fields import is_part
from ..requests.responses import HttpResponseSeeOther, set_cookie

# Name, route and heading of each section.
LIBRARY = (
    ("assistants", "chat:assistants", _("Assistants")),
    ("prompts", "chat:prompts", _("Prompts")),
)
SETTINGS = (
    ("general", "chat:preferences", _("General")),
    ("instructions", "chat:my_instructions", _("Instructions")),
    ("memory", "chat:memory", _("Memory")),
    ("account", "chat:account", _("Account and password")),
    ("keys", "chat:keys", _("API keys")),
    ("shared", "chat:shared_links", _("Shared links")),
    ("usage", "chat:usage", _("Usage")),
    ("data", "chat:data", _("Your data")),
    ("readings", "chat:my_readings", _("Who has read your chats")),
)
SHOWN_ONCE_SECONDS = 60


def render_section(
    request: HttpRequest, section: str, template: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    """Render a section in the person's time zone, with its list and the list of conversations beside it."""
    user, zone = access.get_user(request), timezone_of(request)
    sections = _sections(section)
    shell: dict[str, Any] = {
        "section": section,
        "section_heading": next(heading for name, _route, heading in sections if name == section),
        "sections": [(name, reverse(route), heading) for name, route, heading in sections],
        "in_library": sections is LIBRARY,
    }
    if is_part(request):
        shell |= {"layout": "settings/part.html", "level": 2}
    else:
        shell["listing"] = sidebar(user, zone)
    with timezone.override(zone):
        return render(request, template, shell | context, status=status)


def _sections(section: str) -> Sequence[tuple[str, str, Promise]]:
    """Return the sections that are listed beside this one."""
    if any(name == section for name, _route, _heading in LIBRARY):
        return LIBRARY
    return [each for each in SETTINGS if each[0] != "shared" or links.is_on()]


@dataclass(frozen=True, slots=True)
class ShownOnce:
    """The name of the cookie, and the route of the page that shows the secret."""

    cookie: str
    route: str

    def redirect_with(self, secret: str) -> HttpResponse:
        """Redirect to the page, which shows the secret."""
        page = reverse(self.route)
        response = HttpResponseSeeOther(page)
        set_cookie(response, self.cookie, secret, SHOWN_ONCE_SECONDS, path=page, samesite="Strict")
        return response

    def read(self, request: HttpRequest) -> str:
        """Return the secret; "" if there is none."""
        return request.COOKIES.get(self.cookie, "")

    def forget(self, request: HttpRequest, response: HttpResponse) -> None:
        """Delete the cookie: the secret was shown."""
        if self.cookie in request.COOKIES:
            response.delete_cookie(self.cookie, path=reverse(self.route), samesite="Strict")
