"""Viewers: the open streams of this process, each with its user and its position in a run."""

import asyncio
import contextlib
import random
import uuid
from collections.abc import Callable
from functools import partial

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext

from chat.event_stream import FrameSource
from chat.wire import sse
from chat.wire.position import Position

from .feed import Feed

RESET = sse.encode('{"response":""}', event="reset")
RECONNECT = sse.encode('{"response":""}', event="reconnect")
RETRY_MILLISECONDS = (700, 2700)  # range of the random delay that spreads reconnections after a restart


class Viewers:
    """The open streams of this process, for the check of access rights and for the shutdown."""

    def __init__(self) -> None:
        self.open: set[Viewer] = set()
        self.closing = False
        self._last_left = asyncio.Event()

    def leave(self, viewer: "Viewer") -> None:
        self.open.discard(viewer)
        if not self.open:
            self._last_left.set()

    def close_for_shutdown(self, has_ended: Callable[[uuid.UUID], bool]) -> None:
        """Tell viewers to reconnect, except those whose run has ended: they get its outcome first."""
        self.closing = True
        for viewer in list(self.open):
            if not has_ended(viewer.feed.state.info.run):
                viewer.close_for_shutdown()

    async def wait_closed(self, timeout: float) -> None:
        """Wait until the open streams have sent their last frames, for at most `timeout` seconds."""
        self._last_left.clear()
        if self.open:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._last_left.wait(), timeout)


class Viewer(FrameSource):
    """One open stream: it sends each frame after `position` exactly once, and a step before what follows it.

    If the run has ended with less text than `position`, it sends `reset` and everything. There may be
    thousands that wait, so a viewer refers to nothing of its request.
    """

    __slots__ = (
        "__weakref__", "_callback", "_closing", "_first", "_language", "_pings", "_position", "_problems",
        "_resumed", "_revoked", "_steps", "_viewers", "ended", "feed", "password", "session", "user",
    )  # fmt: skip

    def __init__(
        self, viewers: Viewers, feed: Feed, position: Position, *, session: str, user: int, password: str
    ) -> None:
        self.feed = feed
        self.ended = False
        self.session = session
        self.user = user
        self.password = password
        self._viewers = viewers
        self._position = position._replace(steps=0, done=False)
        self._steps = position.steps  # apart, because the frames of the text are the same for all viewers
        self._first = True
        self._resumed = position > Position() or bool(feed.state.info.earlier_text)
        self._callback: Callable[[], None] | None = None
        self._pings = self._problems = 0  # of the run, when this viewer was sent the last one
        self._language = translation.get_language() if len(settings.LANGUAGES) > 1 else None
        self._revoked = False
        self._closing = viewers.closing

    def revoke(self) -> None:
        """End the stream because access was lost, after telling the client so. It gets no `[DONE]`."""
        self._revoked = True
        self.feed.wake()

    def close_for_shutdown(self) -> None:
        """End the stream because the server shuts down, after telling the client to reconnect."""
        self._closing = True
        self.feed.wake()

    def begin(self) -> bytes:
        """Join the viewers; return what every stream begins with."""
        state = self.feed.state
        self.feed.subscribe()
        self._viewers.open.add(self)
        self._pings = state.ping_count
        # A new viewer is told the latest problem, if one still holds, and none of the earlier ones.
        self._problems = state.problem_count - (1 if state.has_current_problem else 0)
        return sse.retry(random.randint(*RETRY_MILLISECONDS)) + self.feed.first_frame()

    def next_frame(self) -> bytes:
        """Return the next frame, or b"" if there is none until the feed changes or the stream has ended."""
        if self.ended:
            return b""
        if self._revoked:
            return self._last(_signed_out_frame)
        if frame := self._advance():
            return frame
        if self.feed.is_finished:
            return self._last(partial(self.feed.last_frames, self._position, resumed=self._resumed))
        if self._closing:
            return self._last(lambda: RECONNECT)
        return self._notice()

    def call_on_change(self, callback: Callable[[], None]) -> None:
        """Call `callback` once, on the event loop, when there may be a frame again."""
        self._callback = callback
        self.feed.asleep.add(self)

    def wake(self) -> None:
        """Call what waits for the change that has come."""
        callback, self._callback = self._callback, None
        if callback:
            callback()

    def leave(self) -> None:
        """Leave the viewers, before or after the end of the stream."""
        self.ended = True
        self._callback = None
        if self in self._viewers.open:
            self.feed.asleep.discard(self)
            self.feed.unsubscribe()
            self._viewers.leave(self)

    def _last(self, frame: Callable[[], bytes]) -> bytes:
        self.ended = True
        return self._translated(frame)

    def _notice(self) -> bytes:
        """Return a problem or a ping that this viewer was not sent yet, or b""."""
        state = self.feed.state
        if state.problem_count > self._problems:
            self._problems = state.problem_count
            return self._translated(state.problem)
        if state.ping_count > self._pings:
            self._pings = state.ping_count
            return sse.PING
        return b""

    def _translated(self, frame: Callable[[], bytes]) -> bytes:
        """Return a frame with a sentence in it, in the language of the request, which may be over."""
        with translation.override(self._language) if self._language else contextlib.nullcontext():
            return frame()

    def _advance(self) -> bytes:
        """Return the next frame of text or of a step, `reset`, or b"" if there is none yet."""
        state, start = self.feed.state, self._position
        if (
            start.text > len(state.text)
            or start.reasoning > len(state.reasoning)
            or self._steps > state.revision
        ):
            if state.outcome is None:
                return b""  # the client is ahead of what this process has read: wait
            self._position, self._steps, self._first = Position(), 0, True
            return RESET
        lacks_steps = self._steps < state.revision
        if lacks_steps and not self.feed.lacks_text_before_step(start._replace(steps=self._steps)):
            return self._translated(self._next_step)
        steps = self._steps if lacks_steps else None
        following = self.feed.next_frame(start, first=self._first, steps=steps)
        if following is None:
            return b""
        self._first = False
        self._position, frame = following
        return frame

    def _next_step(self) -> bytes:
        at, frame = self.feed.step_frame(self._position._replace(steps=self._steps))
        self._steps = at.steps
        return frame


def _signed_out_frame() -> bytes:
    message = gettext("You’re signed out. Sign in to continue.")
    payload = {"response": "", "code": "signed_out", "message": message, "retryable": False}
    return sse.encode(sse.dumps(payload), event="problem")
