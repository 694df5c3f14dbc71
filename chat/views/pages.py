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
from chat.engine.refusal import Malformed, Missing, Refusal, SignedOut
from chat.models import Conversation, Message, User
from chat.upstream.catalogue import UnknownModel

from . import gate, listing, thread
from .errors import is_part


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
    shown = thread.read(found, _before(request, found))
    return _page(here, request, gate.signed_in(request), found, shown)


def typed_again(here: Engine, request: HttpRequest, key: uuid.UUID | None, refusal: Refusal) -> HttpResponse:
    """The page that a form was sent from, with why its question was not taken, and with what was typed."""
    user = gate.signed_in(request)
    try:
        found = gate.own_conversation(request, key) if key else None
        typed = request.POST.get("content", "")
    except (Missing, SuspiciousOperation):  # such as a body that is too big to be read
        raise refusal from None
    shown = thread.read(found) if found else thread.Thread([], None, None)
    # It must not ask again by itself: that would forget what was typed.
    again = {"error": refusal.message, "content": typed, "refresh": ""}
    response = _page(here, request, user, found, shown, **again)
    response.status_code = refusal.status
    if refusal.retry_after:
        response["Retry-After"] = str(refusal.retry_after)
    return response


def _to_login(request: HttpRequest) -> HttpResponse:
    """A page leads there; a part of one, fetched by the page, is refused."""
    if is_part(request):
        raise SignedOut(_("You are signed out. Sign in to go on."))
    return gate.to_login(request)


def _before(request: HttpRequest, conversation: Conversation) -> Message | None:
    written = request.GET.get("before")
    if written is None:
        return None
    try:
        key = uuid.UUID(written)
    except ValueError as error:
        raise Malformed(_("“before” must be the UUID of a message.")) from error
    message = conversation.messages.filter(pk=key).first()
    if message is None:
        raise Missing(_("There is no such message in this conversation."))
    return message


def _page(
    here: Engine,
    request: HttpRequest,
    user: User,
    current: Conversation | None,
    shown: thread.Thread,
    **more: Any,
) -> HttpResponse:
    names = {model.id: model.name for model in here.catalogue}
    for item in shown.items:
        item["model_name"] = names.get(item["model"], item["model"])
    listed = listing.read(user, listing.zone(request), current=current)
    context: dict[str, Any] = {
        "conversation": current,
        "thread": shown.items,
        "older": shown.older,
        "refresh": _refresh(request, current, shown) if current and shown.live_run else "",
        "listing": listed,
        "deleted": None if current else _just_deleted(request, user),
        "models": [{"id": key, "name": name} for key, name in names.items()],
        "current_model": _model(here, current.model if current else listed.model),
        "form_key": uuid.uuid4(),
    }
    return render(request, "chat/page.html", context | more)


def _refresh(request: HttpRequest, conversation: Conversation, shown: thread.Thread) -> str:
    """Where a page without scripts asks again: at the reply the first time, then wherever its reader went.

    An address that has a fragment, and only that to tell it from the page's own, would load nothing.
    """
    address = f"{reverse('chat:conversation', args=[conversation.pk])}?live"
    return address if "live" in request.GET else f"{address}#m-{shown.items[-1]['id']}"


def _model(here: Engine, wanted: str) -> str:
    """The model last used, while this site still offers it."""
    try:
        return here.catalogue.get(wanted).id
    except UnknownModel:
        return here.catalogue.default.id


def _just_deleted(request: HttpRequest, user: User) -> Conversation | None:
    """What the page offers to take back: `?deleted=` is where the form that deletes leads to."""
    try:
        key = uuid.UUID(request.GET.get("deleted", ""))
    except ValueError:
        return None
    return Conversation.objects.filter(user=user, pk=key).exclude(deleted=None).first()
