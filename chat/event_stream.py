"""The HTTP response of an event stream, for pages and for programs."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping

from django.http import StreamingHttpResponse

# No cache, proxy or middleware may keep, buffer, change or compress the frames.
HEADERS = {
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
    "Content-Encoding": "identity",
}


class EventStreamResponse(StreamingHttpResponse):
    """Pass the frames on as they are, without Django's two generators around each of them."""

    def __init__(self, frames: AsyncGenerator[bytes, None], headers: Mapping[str, str]) -> None:
        self._frames = frames
        super().__init__(frames, content_type="text/event-stream", headers={**HEADERS, **headers})

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._frames
