"""A chat page whose queries are done, and its rendering in `RENDER_POOL`."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from chat.db.fair_executor import RENDER_POOL
from chat.exceptions import ServiceOverloaded
from chat.message_rendering import Text, render_page, render_page_sync
from chat.models import Message, User
from chat.rendering.message_html import MessageHtml

from ..page_context import PageContext, ThreadContext

MAX_WAITING_CHAT_PAGES = 30  # per user; each holds up to 3 MB of text


@dataclass(frozen=True, slots=True)
class ChatPage:
    """`items` are the messages' contexts, which are also in `context`; rendering adds `html` to them."""

    request: HttpRequest
    user: User
    items: list[dict[str, Any]]
    context: ThreadContext | PageContext
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

    def _replies(self) -> list[dict[str, Any]]:
        return [item for item in self.items if item["role"] == Message.Role.ASSISTANT]

    def _texts(self) -> list[Text]:
        return [Text(item["text"], str(item["id"]), item["final"]) for item in self._replies()]

    def _add_html(self, replies: Iterable[MessageHtml]) -> None:
        for item, html in zip(self._replies(), replies, strict=True):
            item["html"] = html

    def _render(self) -> HttpResponse:
        return render(self.request, self.template, self.context)


def require_room(person: Hashable, most: int = MAX_WAITING_CHAT_PAGES) -> None:
    """Raise ServiceOverloaded if `most` pages of this person wait: each holds its messages in memory."""
    if RENDER_POOL.waiting(person) >= most:
        raise ServiceOverloaded(
            _("You have opened too many pages at once. Wait a moment, then try again."), retry_after=5
        )
