"""The HTTP response of an event stream, for pages and for programs."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from typing import Protocol

from django.http import StreamingHttpResponse

# No cache, proxy or middleware may keep, buffer, change or compress the frames.
STREAM_HEADERS = {
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
    "Content-Encoding": "identity",
}
# In the ASGI scope, if the server can do that: a function that takes a stream over.
TAKE_OVER = "chat.take_over"


class FrameSource(Protocol):
    """The frames of a stream, as bytes, for a server that sends them without a task."""

    __slots__ = ()
    ended: bool  # True: after what was returned so far, nothing follows

    def begin(self) -> bytes:
        """Return the first frame."""

    def next_frame(self) -> bytes:
        """Return the next frame, or b"" if there is none yet or the stream has ended."""

    def call_on_change(self, callback: Callable[[], None]) -> None:
        """Call `callback` once, on the event loop, when there may be a frame again."""

    def leave(self) -> None:
        """Release everything. Called once at least, at the end or when the client has gone."""

    async def changed(self) -> None:
        """Wait until there may be a frame again."""
        changed = asyncio.get_running_loop().create_future()
        self.call_on_change(lambda: None if changed.done() else changed.set_result(None))
        await changed

    async def frames(self) -> AsyncGenerator[bytes, None]:
        """Yield all frames, for a server that takes no stream over."""
        try:
            yield self.begin()
            while not self.ended:
                if frame := self.next_frame():
                    yield frame
                elif not self.ended:
                    await self.changed()
        finally:
            self.leave()


class EventStreamResponse(StreamingHttpResponse):
    """Pass the frames on as they are, without Django's two generators around each of them."""

    def __init__(self, frames: AsyncGenerator[bytes, None], headers: Mapping[str, str]) -> None:
        self._frames = frames
        super().__init__(frames, content_type="text/event-stream", headers={**STREAM_HEADERS, **headers})

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._frames


class SourceResponse(EventStreamResponse):
    """An event stream that the server takes over after its first frame, if `take_over` is set.

    Then neither a task nor the request and this response are kept while the stream waits.
    """

    take_over: Callable[[FrameSource], None] | None = None

    def __init__(self, source: FrameSource, headers: Mapping[str, str]) -> None:
        self._source = source
        super().__init__(source.frames(), headers)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._begun(self.take_over) if self.take_over else self._frames

    async def _begun(self, take_over: Callable[[FrameSource], None]) -> AsyncGenerator[bytes, None]:
        """Yield the first frame. The server ignores what Django sends after it."""
        taken_over = False
        try:
            yield self._source.begin()
            take_over(self._source)
            taken_over = True
        finally:
            if not taken_over:
                self._source.leave()
