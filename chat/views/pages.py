"""The chat page: queries run in a database thread, messages and template are rendered in `RENDER_POOL`."""

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

MAX_WAITING_PAGES = 30  # per user; each holds up to 3 MB of text


@dataclass(frozen=True, slots=True)
class Page:
    """A page whose queries are done. `items` are the messages' contexts; rendering adds `html` to them."""

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
        """Do the same as `response` in a synchronous view, blocking its thread."""
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
    """Return an empty page for a new conversation."""
    return await _answer(await run_in_db(_home, await get_engine(), request))


@access.require_methods("GET", "HEAD")
async def conversation(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Return the page of a conversation; to a page's own script only its messages.

    With `?before=<message>` the messages before that one, with `?since=<message>` that one and all after it.
    """
    return await _answer(await run_in_db(_conversation, await get_engine(), request, conversation))


def _require_room(user: User) -> None:
    """Raises ServiceOverloaded when too many pages of this user wait: each holds its messages in memory."""
    if RENDER_POOL.waiting(user.pk) >= MAX_WAITING_PAGES:
        raise ServiceOverloaded(
            _("You have opened too many pages at once. Wait a moment, then try again."), retry_after=5
        )


async def _answer(found: Page | HttpResponse) -> HttpResponse:
    return await found.response() if isinstance(found, Page) else found


def _home(engine: Engine, request: HttpRequest) -> Page | HttpResponse:
    try:
        user = access.get_user(request)
    except NotAuthenticated:
        return _to_login(request)
    return _page(engine, request, user, None, thread.Thread([], None, None))


def _conversation(engine: Engine, request: HttpRequest, key: uuid.UUID) -> Page | HttpResponse:
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
    # Read before the messages, so that the page notices a change in between and fetches them again.
    state = Conversation.objects.state(request.user, found.pk)
    shown = thread.read(found, before, since=since.pk if since else None)
    return _page(engine, request, access.get_user(request), found, shown, state=state, alone=is_part(request))


async def render_rejected(
    engine: Engine, request: HttpRequest, key: uuid.UUID | None, refusal: RequestError
) -> HttpResponse:
    """Return the page that a refused form was sent from, with the error and with the typed message."""
    page = await run_in_db(_render_rejected, engine, request, key, refusal)
    response = await page.response()
    response.status_code = refusal.status
    if refusal.retry_after:
        response["Retry-After"] = str(refusal.retry_after)
    return response


def _render_rejected(
    engine: Engine, request: HttpRequest, key: uuid.UUID | None, refusal: RequestError
) -> Page:
    try:
        found = access.get_conversation_or_404(request, key) if key else None
        typed = request.POST.get("content", "")
    except (NotFound, SuspiciousOperation):  # SuspiciousOperation: such as a body too large to be read
        raise refusal from None
    return _typed(engine, request, found, typed, refusal.message)


def render_after_login(
    engine: Engine, request: HttpRequest, key: uuid.UUID | None, typed: str
) -> HttpResponse:
    """Return the page that a form was sent from before its user had to sign in, with the typed message."""
    try:
        found = access.get_conversation_or_404(request, key) if key else None
    except NotFound:  # deleted since; the typed message is kept
        found = None
    why = _("You are signed in. What you wrote was not sent yet.")
    return _typed(engine, request, found, typed, why).response_sync()


def _typed(engine: Engine, request: HttpRequest, found: Conversation | None, typed: str, why: str) -> Page:
    shown = thread.read(found) if found else thread.Thread([], None, None)
    # No automatic refresh: it would lose the typed message.
    again: dict[str, Any] = {"error": why, "content": typed, "refresh": ""}
    return _page(engine, request, access.get_user(request), found, shown, **again)


def _to_login(request: HttpRequest) -> HttpResponse:
    """Redirect a page to the login. Raises NotAuthenticated for a part of a page, fetched by its script."""
    if is_part(request):
        raise NotAuthenticated(_("You are signed out. Sign in to go on."))
    return access.login_redirect(request)


def _page(
    engine: Engine,
    request: HttpRequest,
    user: User,
    current: Conversation | None,
    shown: thread.Thread,
    *,
    state: ConversationState | None = None,
    alone: bool = False,
    **more: Any,
) -> Page:
    """Query the rest of a page around the messages `shown`; with `alone` there are only the messages."""
    offered = catalog_for_user(engine.catalogue, user)
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
    """Add to each message's context the keys that depend on the models. `model` would answer next.

    Return where its context starts, as `context_start` does.
    """
    start = _context_start(current, state, model) if current and state else None
    for item in shown.items:
        item["model_name"] = offered.name_of(item["model"])
        item["starts_context"] = not item["is_first"] and str(item["id"]) == start
        outcome.add_suggestions(item, offered, model, current.parameters if current else {}, zone)
    return start


def _context_start(current: Conversation, state: ConversationState, model: LlmModel) -> str | None:
    """Take it from the last run, unless another model would answer now."""
    if state.model in ("", model.id):
        return str(state.context_start) if state.context_start else None
    return context_start(current, model)


def _refresh(request: HttpRequest, conversation: Conversation, shown: thread.Thread) -> str:
    """Return the URL that a page without scripts reloads itself from.

    The first time it has the reply's fragment, to scroll there; later none, to keep the scroll position.
    `?live` is needed, because a URL that differs from the page's own only in its fragment loads nothing.
    """
    address = f"{reverse('chat:conversation', args=[conversation.pk])}?live"
    return address if "live" in request.GET else f"{address}#m-{shown.items[-1]['id']}"


def _just_deleted(request: HttpRequest, user: User) -> Conversation | None:
    """Return the conversation whose deletion can be undone: a delete form redirects to `?deleted=<id>`."""
    try:
        key = uuid.UUID(request.GET.get("deleted", ""))
    except ValueError:
        return None
    return Conversation.objects.filter(user=user, pk=key).recoverable().first()
