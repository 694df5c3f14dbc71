"""The section of the settings that holds the person's memory: a switch, and the facts."""

import uuid
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse

from chat.exceptions import NotAuthenticated, NotFound, RequestError
from chat.library import memory as library
from chat.limits import MAX_BODY_BYTES, MAX_FACT_CHARS
from chat.models import Memory, Preferences, User

from ..requests import access, request_fields, request_parsers
from ..requests.request_fields import is_form
from ..requests.responses import HttpResponseSeeOther
from . import preference_cookies
from .settings_shell import render_section

SWITCH = ("on", "off")


@access.require_methods("GET", "HEAD", "POST", page=True)
def listing(request: HttpRequest) -> HttpResponse:
    """List the facts; a POST adds one."""
    user = access.get_user(request)
    if request.method == "POST":
        return _save(request, user, lambda fact: library.remember(user, fact)[0])
    return _page(request, user)


@access.require_methods("GET", "HEAD", "POST", page=True)
def one(request: HttpRequest, memory: uuid.UUID) -> HttpResponse:
    """Show one fact in its form, or store what the form sent."""
    user = access.get_user(request)
    own = library.find(user, memory)
    if request.method == "POST":
        return _save(request, user, lambda fact: library.edit(user, memory, fact), own)
    return _page(request, user, own)


@access.require_methods("POST")
def delete(request: HttpRequest, memory: uuid.UUID) -> HttpResponse:
    user = access.get_user(request)
    request_parsers.no_fields(request)
    library.forget(user, memory)
    return _changed(request, {"id": str(memory), "deleted": True})


@access.require_methods("POST")
def delete_all(request: HttpRequest) -> HttpResponse:
    user = access.get_user(request)
    request_parsers.no_fields(request)
    return _changed(request, {"deleted": library.forget_all(user)})


@access.require_methods("POST")
def switch(request: HttpRequest) -> HttpResponse:
    """Let chats use the memory, or not. What is stored stays."""
    user = access.get_user(request)
    value = request_fields.parse_choice(request_fields.parse(request, "memory"), "memory", SWITCH, "")
    first = preference_cookies.read(request)
    row = Preferences.objects.save_choices(user, {"memory": value == "on"}, first=first)
    request.preferences = user.preferences = row  # type: ignore[attr-defined]
    return _changed(request, {"memory": value})


def _save(
    request: HttpRequest, user: User, store: Callable[[str], Memory], own: Memory | None = None
) -> HttpResponse:
    """Store the sent fact. A refused form is shown again with what was typed."""
    try:
        sent = request_fields.parse(request, "fact")
        # `store` says what is too long, in words for a person, who does not know field names.
        stored = store(request_fields.parse_text(sent, "fact", MAX_BODY_BYTES) or "")
    except (NotAuthenticated, NotFound):
        raise
    except RequestError as refusal:
        if not is_form(request):
            raise
        return _page(request, user, own, refusal)
    return _changed(request, {"id": str(stored.pk), "fact": stored.fact}, 200 if own else 201)


def _changed(request: HttpRequest, payload: dict[str, Any], status: int = 200) -> HttpResponse:
    if is_form(request):
        return HttpResponseSeeOther(f"{reverse('chat:memory')}?saved")
    return JsonResponse(payload, status=status)


def _page(
    request: HttpRequest, user: User, own: Memory | None = None, refusal: RequestError | None = None
) -> HttpResponse:
    """Return the section. `own`: the one fact that is shown, in its form."""
    row = Preferences.of(user)
    facts = [own] if own else list(Memory.objects.owned_by(user).reverse())
    context = {
        "saved": "saved" in request.GET,
        "memory": "off" if row and not row.memory else "on",
        "own": own,
        "facts": facts,
        "typed": request.POST.get("fact", ""),
        "refusal": refusal.message if refusal else "",
        "longest": MAX_FACT_CHARS,
        "number": len(facts),
        "most": library.MAX_MEMORIES,
    }
    return render_section(
        request, "memory", "settings/memory.html", context, refusal.status if refusal else 200
    )
