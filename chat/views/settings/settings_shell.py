"""The settings page: sections with an address each, in the shell of the chat."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chat.accounts.timezones import timezone_of
from chat.sharing import links

from ..conversations import conversation_list
from ..requests import access

# Name, route and heading of each section.
SECTIONS = (
    ("general", "chat:preferences", _("General")),
    ("instructions", "chat:my_instructions", _("Instructions")),
    ("assistants", "chat:assistants", _("Assistants")),
    ("prompts", "chat:prompts", _("Prompts")),
    ("account", "chat:account", _("Account and password")),
    ("keys", "chat:keys", _("API keys")),
    ("shared", "chat:shared_links", _("Shared links")),
    ("usage", "chat:usage", _("Usage")),
    ("data", "chat:data", _("Your data")),
    ("readings", "chat:my_readings", _("Who has read your chats")),
)


def render_section(
    request: HttpRequest, section: str, template: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    """Render a section with the list of conversations beside it, in the person's time zone."""
    user, zone = access.get_user(request), timezone_of(request)
    shell = {
        "section": section,
        "section_heading": next(heading for name, _route, heading in SECTIONS if name == section),
        "sections": [(name, reverse(route), heading) for name, route, heading in _sections()],
        "listing": conversation_list.read(user, zone),
    }
    with timezone.override(zone):
        return render(request, template, shell | context, status=status)


def _sections() -> list[tuple[str, str, Promise]]:
    return [section for section in SECTIONS if section[0] != "shared" or links.is_on()]
