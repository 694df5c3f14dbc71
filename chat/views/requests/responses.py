"""Responses of several views: redirects after a form, and the event streams of runs."""

import uuid
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse

from chat.engine.engine import Engine
from chat.engine.streaming.feed import PlainFeed
from chat.engine.streaming.html_feed import HtmlFeed
from chat.engine.streaming.run_state import RunState
from chat.engine.streaming.viewer import Viewer
from chat.event_stream import SourceResponse
from chat.models import User
from chat.wire.position import Position


class HttpResponseSeeOther(HttpResponseRedirect):
    """303: the page to show after a form was processed."""

    status_code = 303


def set_cookie(
    response: HttpResponseBase, name: str, value: str, seconds: int, *, path: str = "/", samesite: Any = "Lax"
) -> None:
    """Set a cookie that only the server reads; on a site with https, a browser sends it over https only."""
    secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(name, value, seconds, path=path, secure=secure, httponly=True, samesite=samesite)


def to_conversation(conversation: uuid.UUID, message: uuid.UUID | None = None) -> HttpResponseSeeOther:
    """Redirect to a conversation's page, and to the message on it if one is given."""
    url = reverse("chat:conversation", args=[conversation])
    return HttpResponseSeeOther(f"{url}#m-{message}" if message else url)


def to_message(conversation: uuid.UUID, message: uuid.UUID) -> HttpResponseSeeOther:
    """Redirect to the page that reaches to this message, however far up it is."""
    return HttpResponseSeeOther(message_url(conversation, message))


def message_url(conversation: uuid.UUID, message: uuid.UUID) -> str:
    return f"{reverse('chat:conversation', args=[conversation])}?at={message}#m-{message}"


def event_stream(
    engine: Engine, state: RunState, user: User, request: HttpRequest, position: Position = Position()
) -> HttpResponseBase:
    """Return the `text/event-stream` of the run after `position`; with `?html=1` with rendered HTML as well.

    204 if the client has had the `done` event already, because that makes a browser's EventSource stop
    reconnecting.
    """
    ids = {"X-Run-Id": str(state.info.run), "X-Conversation-Id": str(state.info.conversation)}
    if state.outcome is not None and position == state.end._replace(steps=state.revision, done=True):
        return HttpResponse(status=204, headers=ids)
    feed = (HtmlFeed if request.GET.get("html") == "1" else PlainFeed).of(state)
    session = request.session.session_key or ""
    viewer = Viewer(engine.viewers, feed, position, session=session, user=user.pk, password=user.password)
    return SourceResponse(viewer, ids)
