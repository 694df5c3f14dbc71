"""Event stream responses: the same frames for every viewer of a run, at any time."""

import uuid
from collections.abc import AsyncIterator

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from chat.engine.engine import Engine
from chat.engine.streaming.position import Position
from chat.engine.streaming.run_state import RunState
from chat.engine.streaming.viewer import Viewer
from chat.models import User


class EventStream(StreamingHttpResponse):
    """Pass a viewer's frames on as they are, without Django's two generators around each of them."""

    def __init__(self, viewer: Viewer) -> None:
        self._frames = viewer.frames()
        super().__init__(self._frames, content_type="text/event-stream")

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._frames


def stream(
    engine: Engine, live: RunState, user: User, request: HttpRequest, position: Position = Position()
) -> HttpResponseBase:
    """Return the `text/event-stream` of the run after `position`; with `?html=1` with rendered HTML as well.

    204 if the client has had the `done` event already, because that makes a browser's EventSource stop
    reconnecting.
    """
    if live.outcome is not None and position == live.end._replace(done=True):
        return _labelled(HttpResponse(status=204), live.info.run, live.info.conversation)
    feed = live.html_feed if request.GET.get("html") == "1" else live.plain_feed
    session = request.session.session_key or ""
    viewer = Viewer(engine.viewers, feed, position, session=session, user=user.pk, password=user.password)
    response = EventStream(viewer)
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    response["Content-Encoding"] = "identity"
    return _labelled(response, live.info.run, live.info.conversation)


def _labelled(response: HttpResponseBase, run: uuid.UUID, conversation: uuid.UUID) -> HttpResponseBase:
    response["X-Run-Id"] = str(run)
    response["X-Conversation-Id"] = str(conversation)
    return response
