"""The chat page, rendered whole in a database thread: its queries, then its template."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from chat.engine.database import in_database
from chat.engine.engine import Engine, engine
from chat.engine.refusal import Malformed, Missing, SignedOut
from chat.models import Conversation, Message, User

from . import gate, thread

LISTED = 200  # conversations in the sidebar


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
        return gate.to_login(request)
    return _page(here, request, user, None, thread.Thread([], None, None))


def _conversation(here: Engine, request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    try:
        found = gate.own_conversation(request, key)
    except SignedOut:
        return gate.to_login(request)
    shown = thread.read(found, _before(request, found))
    return _page(here, request, gate.signed_in(request), found, shown)


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
    context: dict[str, Any] = {
        "conversation": current,
        "thread": shown.items,
        "older_url": f"?before={shown.older}" if shown.older else "",
        "live_run": shown.live_run or "",
        "conversations": _conversations(user, current),
        "models": [{"id": key, "name": name} for key, name in names.items()],
        "current_model": current.model if current else here.catalogue.default.id,
        "form_key": uuid.uuid4(),
    }
    return render(request, "chat/page.html", context)


def _conversations(user: User, current: Conversation | None) -> list[dict[str, Any]]:
    listed = Conversation.objects.of(user).order_by("-updated").values_list("pk", "title")[:LISTED]
    return [
        {
            "id": key,
            "title": title,
            "url": reverse("chat:conversation", args=[key]),
            "current": current is not None and key == current.pk,
        }
        for key, title in listed
    ]
