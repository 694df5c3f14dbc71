"""The chat page, rendered whole in a database thread: its queries, then its template."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from chat.engine.database import in_database
from chat.engine.engine import Engine, engine
from chat.engine.refusal import Malformed, Missing, SignedOut
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


def _to_login(request: HttpRequest) -> HttpResponse:
    """A page leads there; a part of one, fetched by the page, is refused."""
    if is_part(request):
        raise SignedOut("You are signed out. Sign in to go on.")
    return gate.to_login(request)


def _before(request: HttpRequest, conversation: Conversation) -> Message | None:
    written = request.GET.get("before")
    if written is None:
        return None
    try:
        key = uuid.UUID(written)
    except ValueError as error:
        raise Malformed("“before” must be the UUID of a message.") from error
    message = conversation.messages.filter(pk=key).first()
    if message is None:
        raise Missing("There is no such message in this conversation.")
    return message


def _page(
    here: Engine, request: HttpRequest, user: User, current: Conversation | None, shown: thread.Thread
) -> HttpResponse:
    names = {model.id: model.name for model in here.catalogue}
    for item in shown.items:
        item["model_name"] = names.get(item["model"], item["model"])
    listed = listing.read(user, listing.zone(request), current=current)
    context: dict[str, Any] = {
        "conversation": current,
        "thread": shown.items,
        "older_url": f"?before={shown.older}" if shown.older else "",
        "live_run": shown.live_run or "",
        "listing": listed,
        "deleted": None if current else _just_deleted(request, user),
        "models": [{"id": key, "name": name} for key, name in names.items()],
        "current_model": _model(here, current.model if current else listed.model),
        "form_key": uuid.uuid4(),
    }
    return render(request, "chat/page.html", context)


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
