"""The sections of the settings that hold the person's preferences: general ones, and instructions."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import get_language_info
from django.utils.translation import gettext as _

from chat.accounts.timezones import browser_zone, zone_names
from chat.conversations.tools.registry import is_web_search_offered
from chat.exceptions import BadRequest
from chat.formats import grouped_number
from chat.models import Preferences, User
from chat.models.preferences import (
    MAX_GENERAL_INSTRUCTIONS_CHARS,
    PREFERENCE_CHOICES,
    SHORT_PREFERENCES,
    SITE_DEFAULT,
)
from chat.upstream.catalog import Catalog
from chat.upstream.doors import is_finetune_base

from .. import model_picker
from ..requests import access, request_fields
from ..requests.request_fields import is_form
from ..requests.responses import HttpResponseSeeOther
from . import preference_cookies
from .settings_shell import render_section

CHOICES = PREFERENCE_CHOICES | {"web_search": tuple(request_fields.SWITCHED)}


@access.require_methods("GET", "HEAD", "POST", page=True)
def preferences(request: HttpRequest) -> HttpResponse:
    """Show the preferences, or store the sent ones: all of them, or none if one has an invalid value."""
    user = access.get_user(request)
    if request.method != "POST":
        return _general(request)
    return _save(request, user, _chosen(request), "chat:preferences")


@access.require_methods("GET", "HEAD", "POST", page=True)
def instructions(request: HttpRequest) -> HttpResponse:
    """Show or store the instructions for all of the person's conversations."""
    user = access.get_user(request)
    if request.method != "POST":
        row = Preferences.of(user)
        context = {
            "saved": "saved" in request.GET,
            "instructions": row.instructions if row else "",
            "longest": MAX_GENERAL_INSTRUCTIONS_CHARS,
            "most": grouped_number(MAX_GENERAL_INSTRUCTIONS_CHARS),
        }
        return render_section(request, "instructions", "settings/instructions.html", context)
    sent = request_fields.parse(request, "instructions")
    text = request_fields.parse_text(sent, "instructions", MAX_GENERAL_INSTRUCTIONS_CHARS)
    if text is None:
        raise BadRequest(_("Send one of: %(names)s.") % {"names": "instructions"})
    return _save(request, user, {"instructions": text.strip()}, "chat:my_instructions")


def _general(request: HttpRequest) -> HttpResponse:
    offered = access.get_models(request)
    current = current_values(request)
    model = current["model"]
    row = Preferences.of(access.get_user(request))
    favourites = [each for each in offered if row and each.id in row.favourites]
    named = model_picker.named_doors(offered)
    doors = [each for each in named if each["model"] not in favourites]
    apart = [*favourites, *(door["model"] for door in doors)]
    context: dict[str, Any] = {
        "saved": "saved" in request.GET,
        "favourites": favourites,
        "doors": doors,
        "model_groups": model_picker.by_maker(
            each for each in offered if each not in apart and (each.id == model or not is_finetune_base(each))
        ),
        "site_default": model_picker.label_of(offered.default, named),
        "model": model,
        "web_search": current["web_search"] if is_web_search_offered() else "",
        "former": offered.name_of(model) if model and not _is_model(offered, model) else "",
        "languages": [(code, _own_name(code)) for code, _name in settings.LANGUAGES],
        "zones": zone_names(),
        "browser_zone": browser_zone(request),
    }
    return render_section(request, "general", "settings/general.html", context)


def _own_name(code: str) -> str:
    try:
        return str(get_language_info(code)["name_local"]).capitalize()
    except KeyError:
        return code


def current_values(request: HttpRequest) -> dict[str, str]:
    """Return all preferences but the instructions."""
    row = Preferences.of(access.get_user(request))
    own = {"model": row.model if row else "", "web_search": "on" if row and row.web_search else "off"}
    return preference_cookies.read(request) | own


def _save(request: HttpRequest, user: User, chosen: dict[str, Any], route: str) -> HttpResponse:
    row = Preferences.objects.save_choices(user, chosen, first=preference_cookies.read(request))
    request.preferences = user.preferences = row  # type: ignore[attr-defined]
    if is_form(request):
        return HttpResponseSeeOther(f"{reverse(route)}?saved=1")
    values = {"instructions": row.instructions} if "instructions" in chosen else current_values(request)
    response = JsonResponse(values)
    preference_cookies.synchronise(request, response)
    return response


def _chosen(request: HttpRequest) -> dict[str, Any]:
    """Return the sent preferences. Raises BadRequest if one has an invalid value, or if there are none."""
    sent = request_fields.parse(request, *SHORT_PREFERENCES)
    if not sent:
        raise BadRequest(_("Send one of: %(names)s.") % {"names": ", ".join(SHORT_PREFERENCES)})
    if sent.get("model", "") is None:  # an empty field of a form
        sent["model"] = ""
    for name, value in sent.items():
        _check(request, name, value)
    if "web_search" in sent:
        sent["web_search"] = request_fields.SWITCHED[sent["web_search"]]
    return sent


def _check(request: HttpRequest, name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise BadRequest(_("“%(name)s” must be a string.") % {"name": name})
    if name in CHOICES and value not in CHOICES[name]:
        words = _("“%(name)s” must be one of: %(names)s.")
        raise BadRequest(words % {"name": name, "names": ", ".join(CHOICES[name])})
    if name == "language" and value and value not in dict(settings.LANGUAGES):
        raise BadRequest(_("This site isn’t available in this language."))
    if name == "time_zone" and value and value not in zone_names():
        raise BadRequest(_("Unknown time zone. Use a name such as Europe/Berlin."))
    if name == "model" and value and not _is_model(access.get_models(request), value):
        access.get_model_or_400(access.get_models(request), value)


def _is_model(offered: Catalog, name: str) -> bool:
    return name == SITE_DEFAULT or any(model.id == name for model in offered)
