"""The chat page. Queries run in a database thread; messages and template are rendered in `RENDER_POOL`."""

import uuid
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _

from chat.accounts.timezones import timezone_of
from chat.conversations.tools.shown import breaks
from chat.db.executor import run_in_db
from chat.db.fair_executor import RENDER_POOL
from chat.exceptions import BadRequest, NotFound, RequestError, ServiceOverloaded
from chat.message_rendering import Text, render_page, render_page_sync
from chat.models import AssistantVersion, Conversation, Message, User
from chat.models.conversation import ConversationState
from chat.rendering.message_html import MessageHtml

from .conversations import start_page, thread
from .conversations.sidebar import sidebar
from .page_context import first_model, page_context, thread_context
from .requests import access
from .requests.request_fields import is_part

MAX_WAITING_CHAT_PAGES = 30  # per user; each holds up to 3 MB of text


@dataclass(frozen=True, slots=True)
class ChatPage:
    """`items` are the messages' contexts, which are also in `context`; rendering adds `html` to them."""

    request: HttpRequest
    user: User
    items: list[dict[str, Any]]
    context: dict[str, Any]
    template: str

    async def response(self) -> HttpResponse:
        require_room(self.user.pk)
        self._add_html(await render_page(self.user.pk, self._texts()))
        return await RENDER_POOL.run(self.user.pk, self._render)

    def response_sync(self) -> HttpResponse:
        """Do the same as `response` in a synchronous view, blocking its thread."""
        require_room(self.user.pk)
        self._add_html(render_page_sync(self.user.pk, self._texts()))
        return RENDER_POOL.submit(self.user.pk, self._render).result()

    def _texts(self) -> list[Text]:
        return [
            Text(
                item["text"],
                str(item["id"]),
                item["final"],
                typed=item["role"] == Message.Role.USER,
                sources=item.get("source_count", 0),
                breaks=breaks(item["steps"]),
            )
            for item in self.items
        ]

    def _add_html(self, messages: Iterable[MessageHtml]) -> None:
        for item, html in zip(self.items, messages, strict=True):
            item["html"] = html
            item["parts"] = html.around(item["steps"])

    def _render(self) -> HttpResponse:
        return render(self.request, self.template, self.context)


def require_room(person: Hashable, most: int = MAX_WAITING_CHAT_PAGES) -> None:
    """Raise ServiceOverloaded if `most` pages of this person wait: each holds its messages in memory."""
    if RENDER_POOL.waiting(person) >= most:
        raise ServiceOverloaded(
            _("You have opened too many pages at once. Wait a moment, then try again."), retry_after=5
        )


@access.require_methods("GET", "HEAD", page=True)
async def home(request: HttpRequest) -> HttpResponseBase:
    """Return an empty page for a new conversation; with `?assistant=`, for one with that assistant."""
    page = await run_in_db(_home, request)
    return await page.response()


@access.require_methods("GET", "HEAD", page=True)
async def conversation(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Return the page of a conversation; to a page's own script only its messages.

    With `?before=<message>` the messages before that one, with `?since=<message>` that one and all after it.
    With `?at=<message>` the page reaches to that one, or offers to show the branch that has it, because a GET
    changes nothing.
    """
    page = await run_in_db(_conversation, request, conversation)
    return await page.response()


async def render_rejected(request: HttpRequest, key: uuid.UUID | None, refusal: RequestError) -> HttpResponse:
    """Return the page that a refused form was sent from, with the error and with the typed message."""
    page = await run_in_db(_rejected, request, key, refusal)
    response = await page.response()
    response.status_code = refusal.status
    if refusal.retry_after:
        response["Retry-After"] = str(refusal.retry_after)
    return response


def render_after_login(request: HttpRequest, key: uuid.UUID | None, typed: str) -> HttpResponse:
    """Return the page that a form was sent from before its user had to sign in, with the typed message."""
    try:
        current = access.get_conversation_or_404(request, key) if key else None
    except NotFound:  # deleted since; the typed message is kept
        current = None
    why = _("You’re signed in. Your message hasn’t been sent yet.")
    return _with_typed(request, current, typed, why).response_sync()


async def render_with_text(request: HttpRequest, text: str) -> HttpResponseBase:
    """Return the page for a new conversation with a text in its box, which is sent by the person alone."""
    page = await run_in_db(_with_typed, request, None, text, "")
    return await page.response()


def _home(request: HttpRequest) -> ChatPage:
    return _page(request, None, thread.EMPTY, assistant=start_page.wanted(request))


def _conversation(request: HttpRequest, key: uuid.UUID) -> ChatPage:
    current = access.get_conversation_or_404(request, key)
    before, since, at = (
        access.row_from_query(request, name, current.messages.filter(deleted=None))
        for name in ("before", "since", "at")
    )
    if before and since:
        raise BadRequest(_("Send “before” or “since”, not both."))
    require_room(access.get_user(request).pk)  # before its messages are loaded
    # Read before the messages, so that the page notices a change in between and fetches them again.
    state = Conversation.objects.state(request.user, current.pk)
    reached = thread.read_at(current, at) if at else None
    messages = reached or thread.read(current, before, since=since.pk if since else None)
    added: dict[str, Any] = {}
    if at and not reached:  # the message is on another branch
        added["elsewhere"] = at.pk
    if reached:  # do messages follow that are not on the page?
        added["later"] = reached.items[-1]["id"] != current.active_leaf_id
    return _page(request, current, messages, state=state, alone=is_part(request), added=added)


def _rejected(request: HttpRequest, key: uuid.UUID | None, refusal: RequestError) -> ChatPage:
    try:
        current = access.get_conversation_or_404(request, key) if key else None
        typed = request.POST.get("content", "")
    except (NotFound, SuspiciousOperation):  # SuspiciousOperation: such as a body too large to be read
        raise refusal from None
    return _with_typed(request, current, typed, refusal.message)


def _with_typed(request: HttpRequest, current: Conversation | None, typed: str, why: str) -> ChatPage:
    messages = thread.read(current) if current else thread.EMPTY
    assistant = None if current else start_page.typed_for(access.get_user(request), request.POST)
    # No automatic refresh: it would lose the typed message.
    added = {"error": why, "content": typed, "refresh": ""}
    return _page(request, current, messages, added=added, assistant=assistant)


def _page(
    request: HttpRequest,
    current: Conversation | None,
    messages: thread.Thread,
    *,
    state: ConversationState | None = None,
    alone: bool = False,
    added: dict[str, Any] | None = None,
    assistant: AssistantVersion | None = None,
) -> ChatPage:
    """Query the rest of a page around `messages`; with `alone` there are only the messages."""
    user = access.get_user(request)
    listing = None if alone else sidebar(user, timezone_of(request), current=current)
    catalog = access.get_models(request)
    first = start_page.model_of_assistant(assistant, catalog) or first_model(user)
    model = current.model if current else first
    context = thread_context(request, catalog, messages, current, state, model)
    if listing is None:
        return ChatPage(request, user, messages.items, context, "chat/_thread.html")
    page = page_context(request, catalog, messages, context, listing, model, added or {}, assistant)
    return ChatPage(request, user, messages.items, page, "chat/page.html")
