"""The chat page, rendered whole in a database thread: its queries, then its template."""

import uuid
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.engine.database import in_database
from chat.engine.engine import Engine, engine
from chat.engine.offering import theirs
from chat.engine.refusal import Missing, Refusal, SignedOut
from chat.models import Conversation, User

from . import controls, gate, listing, outcome, thread
from .errors import is_part
from .zone import zone


@gate.takes("GET", "HEAD")
async def home(request: HttpRequest) -> HttpResponseBase:
    """An empty page for a new conversation."""
    return await in_database(_home, await engine(), request)


@gate.takes("GET", "HEAD")
async def conversation(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """A conversation, or with `?before=<message>` the messages before that one."""
    return await in_database(_conversation, await engine(), request, conversation)


def _home(here: Engine, request: HttpRequest) -> HttpResponse:
    try:
        user = gate.signed_in(request)
    except SignedOut:
        return _to_login(request)
    return _page(here, request, user, None, thread.Thread([], None, None))


def _conversation(here: Engine, request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    try:
        found = gate.own_conversation(request, key)
    except SignedOut:
        return _to_login(request)
    shown = thread.read(found, gate.before(request, found.messages.all()))
    return _page(here, request, gate.signed_in(request), found, shown)


def typed_again(here: Engine, request: HttpRequest, key: uuid.UUID | None, refusal: Refusal) -> HttpResponse:
    """The page that a form was sent from, with why its question was not taken, and with what was typed."""
    try:
        found = gate.own_conversation(request, key) if key else None
        typed = request.POST.get("content", "")
    except (Missing, SuspiciousOperation):  # such as a body that is too big to be read
        raise refusal from None
    response = _typed(here, request, found, typed, refusal.message)
    response.status_code = refusal.status
    if refusal.retry_after:
        response["Retry-After"] = str(refusal.retry_after)
    return response


def given_back(here: Engine, request: HttpRequest, key: uuid.UUID | None, typed: str) -> HttpResponse:
    """The page that a form was sent from, for who had to sign in first, with what was typed."""
    try:
        found = gate.own_conversation(request, key) if key else None
    except Missing:  # deleted since; what was typed is not
        found = None
    return _typed(here, request, found, typed, _("You are signed in. What you wrote was not sent yet."))


def _typed(
    here: Engine, request: HttpRequest, found: Conversation | None, typed: str, why: str
) -> HttpResponse:
    shown = thread.read(found) if found else thread.Thread([], None, None)
    # It must not ask again by itself: that would forget what was typed.
    again = {"error": why, "content": typed, "refresh": ""}
    return _page(here, request, gate.signed_in(request), found, shown, **again)


def _to_login(request: HttpRequest) -> HttpResponse:
    """A page leads there; a part of one, fetched by the page, is refused."""
    if is_part(request):
        raise SignedOut(_("You are signed out. Sign in to go on."))
    return gate.to_login(request)


def _page(
    here: Engine,
    request: HttpRequest,
    user: User,
    current: Conversation | None,
    shown: thread.Thread,
    **more: Any,
) -> HttpResponse:
    offered = theirs(here.catalogue, user)
    listed = listing.read(user, zone(request), current=current)
    wanted = current.model if current else listed.model
    retired = offered.retired(wanted)
    model = offered.usable(wanted)
    chosen = current.parameters if current else {}
    for item in shown.items:
        item["model_name"] = offered.name_of(item["model"])
        outcome.complete(item, offered, model, chosen)
    context: dict[str, Any] = {
        "conversation": current,
        "thread": shown.items,
        "older": shown.older,
        "refresh": _refresh(request, current, shown) if current and shown.live_run else "",
        "listing": listed,
        "deleted": None if current else _just_deleted(request, user),
        "models": list(offered),
        "current_model": model.id,
        "controls": controls.controls(model, chosen),
        "retired": retired if current and "before" not in request.GET else None,
        "successor": offered.successor(retired).name if retired else "",
        "form_key": uuid.uuid4(),
    }
    return render(request, "chat/page.html", context | more)


def _refresh(request: HttpRequest, conversation: Conversation, shown: thread.Thread) -> str:
    """Where a page without scripts asks again: at the reply the first time, then wherever its reader went.

    An address that has a fragment, and only that to tell it from the page's own, would load nothing.
    """
    address = f"{reverse('chat:conversation', args=[conversation.pk])}?live"
    return address if "live" in request.GET else f"{address}#m-{shown.items[-1]['id']}"


def _just_deleted(request: HttpRequest, user: User) -> Conversation | None:
    """What the page offers to take back: `?deleted=` is where the form that deletes leads to."""
    try:
        key = uuid.UUID(request.GET.get("deleted", ""))
    except ValueError:
        return None
    return Conversation.objects.filter(user=user, pk=key).exclude(deleted=None).first()
