"""Answers that stream: the same frames to whoever asks for a run, and whenever."""

import uuid
from collections.abc import AsyncIterator

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from chat.engine.engine import Engine
from chat.engine.live import Live
from chat.engine.position import Position
from chat.engine.viewer import Viewer
from chat.models import User


class EventStream(StreamingHttpResponse):
    """Hands a viewer's frames on as they are, without Django's two generators around each of them."""

    def __init__(self, viewer: Viewer) -> None:
        self._frames = viewer.frames()
        super().__init__(self._frames, content_type="text/event-stream")

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._frames


def stream(
    engine: Engine, live: Live, user: User, session: str, position: Position = Position()
) -> HttpResponseBase:
    """`text/event-stream` of what follows `position`; 204 for who has seen `done` already.

    204 is what makes a browser's EventSource stop asking.
    """
    if live.ending is not None and position == live.end._replace(done=True):
        return _labelled(HttpResponse(status=204), live.about.run, live.about.conversation)
    viewer = Viewer(engine.viewers, live, position, session=session, user=user.pk, password=user.password)
    response = EventStream(viewer)
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    response["Content-Encoding"] = "identity"
    return _labelled(response, live.about.run, live.about.conversation)


def _labelled(response: HttpResponseBase, run: uuid.UUID, conversation: uuid.UUID) -> HttpResponseBase:
    response["X-Run-Id"] = str(run)
    response["X-Conversation-Id"] = str(conversation)
    return response
