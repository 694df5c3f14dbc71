"""The event stream of a call: its frames as they come, and pings while none comes."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing, suppress
from typing import Any

from django.utils.translation import gettext as _

from chat.engine.generation.api_calls import ActiveCall, CallAborted
from chat.engine.outcome import INTERNAL_ERROR
from chat.event_stream import FrameSource, SourceResponse
from chat.upstream.errors import UpstreamError
from chat.wire import sse
from chat.wire.delta import Delta

from .errors import ApiError, error_at, error_of
from .responses import ErrorEnvelope, call_headers

HEADERS_SECONDS = 10.0  # the response's head waits so long for the first frame, so that an error has a status
PING_SECONDS = 15.0  # without a frame
MAX_WAITING_BYTES = 65_536  # that the client has not read, before no more are read from the model

logger = logging.getLogger(__name__)


class StreamFormat:
    """A dialect's frames of one response, as bytes. Constant parts are encoded once, not for each token."""

    envelope: ErrorEnvelope

    def __init__(self, active_call: ActiveCall) -> None:
        self.active_call = active_call

    def first(self, delta: Delta) -> bytes:
        """Return the frames before the first delta, which is empty if there is none."""
        raise NotImplementedError

    def delta(self, delta: Delta) -> bytes:
        raise NotImplementedError

    def last(self) -> bytes:
        """Return the end of a complete reply: finish reason and usage, without `[DONE]`."""
        raise NotImplementedError

    def error(self, problem: ApiError) -> bytes:
        """Return the frame of an error, which ends the stream."""
        return frame(self.envelope(problem)[1])


def frame(payload: dict[str, Any]) -> bytes:
    return sse.encode(sse.dumps(payload))


class CallFrames(FrameSource):
    """The frames of a call. A task reads the call and encodes its deltas."""

    def __init__(self, encoder: StreamFormat) -> None:
        self.ended = False
        self.is_sent = False
        self._encoder = encoder
        self._loop = asyncio.get_running_loop()
        self._waiting: list[bytes] = []
        self._size = 0
        self._has_finished = False
        self._refusal: Exception | None = None  # before the first frame
        self._callback: Callable[[], None] | None = None
        self._resume: asyncio.Future[None] | None = None  # of the task, while too much is waiting
        self._put_at = self._loop.time()
        self._pings = self._loop.call_later(PING_SECONDS, self._ping)
        # In the context of the request, which has its language and its trace.
        self._task = self._loop.create_task(self._read(), name=f"call {encoder.active_call.call.pk}")

    async def opened(self) -> None:
        """Wait for the first frame, for HEADERS_SECONDS at most. Raises UpstreamError and CallAborted."""
        with suppress(TimeoutError):
            async with asyncio.timeout(HEADERS_SECONDS):
                await self.changed()
        if self._refusal:
            raise self._refusal

    def begin(self) -> bytes:
        self.is_sent = True
        return self.next_frame() or sse.PING

    def next_frame(self) -> bytes:
        frames, self._size = b"".join(self._waiting), 0
        self._waiting.clear()
        self.ended = self.ended or self._has_finished
        if self._resume and not self._resume.done():
            self._resume.set_result(None)
        return frames

    def call_on_change(self, callback: Callable[[], None]) -> None:
        self._callback = callback

    def leave(self) -> None:
        """End the call, if it has not ended."""
        self.ended = True
        self._callback = None
        self._pings.cancel()
        self._task.cancel()

    async def _read(self) -> None:
        encoder, has_begun = self._encoder, False
        try:
            async with aclosing(encoder.active_call.deltas()) as deltas:
                async for delta in deltas:
                    first = b"" if has_begun else encoder.first(delta)
                    self._put(first + encoder.delta(delta))
                    has_begun = True
                    if self._size > MAX_WAITING_BYTES:
                        self._resume = self._loop.create_future()
                        await self._resume
            first = b"" if has_begun else encoder.first(Delta())
            self._put(first + encoder.last() + sse.DONE, finished=True)
        except (UpstreamError, CallAborted) as error:
            self._refusal = None if has_begun else error
            self._put(encoder.error(error_of(error)), finished=True)
        except Exception as error:
            logger.exception("an API call broke")
            self._refusal = None if has_begun else error
            self._put(encoder.error(error_at(500, _(INTERNAL_ERROR), None)), finished=True)

    def _put(self, frames: bytes, *, finished: bool = False) -> None:
        self._has_finished = self._has_finished or finished
        self._waiting.append(frames)
        self._size += len(frames)
        self._put_at = self._loop.time()
        callback, self._callback = self._callback, None
        if callback:
            callback()

    def _ping(self) -> None:
        """Send a comment if nothing was sent for so long; the timer is not set anew for each token."""
        seconds_left = self._put_at + PING_SECONDS - self._loop.time()
        if seconds_left <= 0 and self.is_sent and not self._waiting:
            self._put(sse.PING)
        if not self._has_finished:
            delay = seconds_left if seconds_left > 0 else PING_SECONDS
            self._pings = self._loop.call_later(delay, self._ping)


class CallStream(SourceResponse):
    """The response with the stream of a call. Closing it ends the call even if it was never iterated."""

    def __init__(self, active_call: ActiveCall, frames: CallFrames) -> None:
        self._call_frames = frames
        super().__init__(frames, call_headers(active_call))

    def close(self) -> None:
        super().close()
        if not self._call_frames.is_sent:
            self._call_frames.leave()


async def stream_reply(encoder: StreamFormat) -> CallStream:
    """Return an event stream once the first frame is there, or after HEADERS_SECONDS.

    Raises UpstreamError and CallAborted: an error before the first frame still gets its own status.
    """
    frames = CallFrames(encoder)
    try:
        await frames.opened()
    except BaseException:
        frames.leave()
        raise
    return CallStream(encoder.active_call, frames)
