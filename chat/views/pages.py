"""The chat page, whole: its queries in a database thread, its messages and its template in fair turns."""

import asyncio
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.db import run_in_db
from chat.engine.engine import Engine, get_engine
from chat.exceptions import BadRequest, NotAuthenticated, NotFound, RequestError, ServiceOverloaded
from chat.fair_executor import RENDER_POOL
from chat.message_rendering import Text, render_page, render_page_sync
from chat.model_catalog.catalog import catalog_for_user
from chat.models import Conversation, Message, User
from chat.models.conversation import ConversationState
from chat.rendering.message_html import MessageHtml
from chat.timezones import timezone_of
from chat.upstream.catalogue import Catalogue, LlmModel

from . import access, conversation_list, outcome, parameter_form, thread
from .conversation_state import NEXT, context_start
from .errors import is_part

MAX_WAITING_PAGES = 30  # of one person; each holds up to 3 MB of text


@dataclass(frozen=True, slots=True)
class Page:
    """A page whose queries are done. `items` are its messages; they get their HTML."""

    request: HttpRequest
    user: User
    items: list[dict[str, Any]]
    context: dict[str, Any]
    template: str = "chat/page.html"

    async def response(self) -> HttpResponse:
        _require_room(self.user)
        self._take(await render_page(self.user.pk, self._texts()))
        return await asyncio.wrap_future(RENDER_POOL.submit(self.user.pk, self._finish))

    def response_sync(self) -> HttpResponse:
        """For a view that has a thread of its own."""
        _require_room(self.user)
        self._take(render_page_sync(self.user.pk, self._texts()))
        return RENDER_POOL.submit(self.user.pk, self._finish).result()

    def _replies(self) -> list[dict[str, Any]]:
        return [item for item in self.items if item["role"] == Message.Role.ASSISTANT]

    def _texts(self) -> list[Text]:
        return [Text(item["text"], str(item["id"]), item["final"]) for item in self._replies()]

    def _take(self, html: Iterable[MessageHtml]) -> None:
        for item, each in zip(self._replies(), html, strict=True):
            item["html"] = each

    def _finish(self) -> HttpResponse:
        return render(self.request, self.template, self.context)


@access.require_methods("GET", "HEAD")
async def home(request: HttpRequest) -> HttpResponseBase:
    """An empty page for a new conversation."""
    return await _answer(await run_in_db(_home, await get_engine(), request))


@access.require_methods("GET", "HEAD")
async def conversation(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """A conversation; with `?before=<message>` the messages before that one, with `?since=<message>` the rest
    from that one on. The page's own script is given the messages alone."""
    return await _answer(await run_in_db(_conversation, await get_engine(), request, conversation))


def _require_room(user: User) -> None:
    """Raises ServiceOverloaded. Each waiting page holds its messages in memory."""
    if RENDER_POOL.waiting(user.pk) >= MAX_WAITING_PAGES:
        raise ServiceOverloaded(
            _("You have opened too many pages at once. Wait a moment, then try again."), retry_after=5
        )


async def _answer(found: Page | HttpResponse) -> HttpResponse:
    return await found.response() if isinstance(found, Page) else found


def _home(here: Engine, request: HttpRequest) -> Page | HttpResponse:
    try:
        user = access.get_user(request)
    except NotAuthenticated:
        return _to_login(request)
    return _page(here, request, user, None, thread.Thread([], None, None))


def _conversation(here: Engine, request: HttpRequest, key: uuid.UUID) -> Page | HttpResponse:
    try:
        found = access.get_conversation_or_404(request, key)
    except NotAuthenticated:
        return _to_login(request)
    before, since = (
        access.row_from_query(request, name, found.messages.all()) for name in ("before", "since")
    )
    if before and since:
        raise BadRequest(_("Send “before” or “since”, not both."))
    _require_room(access.get_user(request))  # before its messages are loaded
    # Read first: what changes in between is asked for again by the page, and not missed.
    state = Conversation.objects.state(request.user, found.pk)
    shown = thread.read(found, before, since=since.pk if since else None)
    return _page(here, request, access.get_user(request), found, shown, state=state, alone=is_part(request))


async def render_rejected(
    here: Engine, request: HttpRequest, key: uuid.UUID | None, refusal: RequestError
) -> HttpResponse:
    """The page that a form was sent from, with why its question was not taken, and with what was typed."""
    page = await run_in_db(_render_rejected, here, request, key, refusal)
    response = await page.response()
    response.status_code = refusal.status
    if refusal.retry_after:
        response["Retry-After"] = str(refusal.retry_after)
    return response


def _render_rejected(
    here: Engine, request: HttpRequest, key: uuid.UUID | None, refusal: RequestError
) -> Page:
    try:
        found = access.get_conversation_or_404(request, key) if key else None
        typed = request.POST.get("content", "")
    except (NotFound, SuspiciousOperation):  # such as a body that is too big to be read
        raise refusal from None
    return _typed(here, request, found, typed, refusal.message)


def render_after_login(here: Engine, request: HttpRequest, key: uuid.UUID | None, typed: str) -> HttpResponse:
    """The page that a form was sent from, for who had to sign in first, with what was typed."""
    try:
        found = access.get_conversation_or_404(request, key) if key else None
    except NotFound:  # deleted since; what was typed is not
        found = None
    why = _("You are signed in. What you wrote was not sent yet.")
    return _typed(here, request, found, typed, why).response_sync()


def _typed(here: Engine, request: HttpRequest, found: Conversation | None, typed: str, why: str) -> Page:
    shown = thread.read(found) if found else thread.Thread([], None, None)
    # It must not ask again by itself: that would forget what was typed.
    again: dict[str, Any] = {"error": why, "content": typed, "refresh": ""}
    return _page(here, request, access.get_user(request), found, shown, **again)


def _to_login(request: HttpRequest) -> HttpResponse:
    """A page leads there; a part of one, fetched by the page, is refused."""
    if is_part(request):
        raise NotAuthenticated(_("You are signed out. Sign in to go on."))
    return access.login_redirect(request)


def _page(
    here: Engine,
    request: HttpRequest,
    user: User,
    current: Conversation | None,
    shown: thread.Thread,
    *,
    state: ConversationState | None = None,
    alone: bool = False,
    **more: Any,
) -> Page:
    """`alone`: the messages, without the page around them."""
    offered = catalog_for_user(here.catalogue, user)
    listed = None if alone else conversation_list.read(user, timezone_of(request), current=current)
    wanted = current.model if current else listed.model if listed else ""
    retired = offered.retired(wanted)
    model = offered.resolve_or_default(wanted)
    start = _complete(shown, offered, model, current, state, timezone_of(request))
    context: dict[str, Any] = {
        "conversation": current,
        "thread": shown.items,
        "older": shown.older,
        "context_ends": start == NEXT and "before" not in request.GET,
        "state": state,
        "models": list(offered),
        "retired": retired if current and "before" not in request.GET else None,
        "successor": offered.successor(retired).name if retired else "",
    }
    if alone:
        return Page(request, user, shown.items, context, "chat/_thread.html")
    context |= {
        "refresh": _refresh(request, current, shown) if current and shown.live_run else "",
        "listing": listed,
        "deleted": None if current else _just_deleted(request, user),
        "current_model": model.id,
        "controls": parameter_form.controls(model, current.parameters if current else {}),
        "form_key": uuid.uuid4(),
    }
    return Page(request, user, shown.items, context | more)


def _complete(
    shown: thread.Thread,
    offered: Catalogue,
    model: LlmModel,
    current: Conversation | None,
    state: ConversationState | None,
    zone: tzinfo,
) -> str | None:
    """Say of each message what depends on the models. `model` answers next.

    Returns where its context starts.
    """
    start = _context_start(current, state, model) if current and state else None
    for item in shown.items:
        item["model_name"] = offered.name_of(item["model"])
        item["starts_context"] = not item["is_first"] and str(item["id"]) == start
        outcome.add_suggestions(item, offered, model, current.parameters if current else {}, zone)
    return start


def _context_start(current: Conversation, state: ConversationState, model: LlmModel) -> str | None:
    """Known from the last turn, unless another model answers now."""
    if state.model in ("", model.id):
        return str(state.context_start) if state.context_start else None
    return context_start(current, model)


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
    return Conversation.objects.filter(user=user, pk=key).recoverable().first()
