"""Viewers: the open streams of this process, each with its user and its position in a run."""

import asyncio
import contextlib
import random
import uuid
from collections.abc import AsyncGenerator, Callable

from django.utils.translation import gettext

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


class Viewer:
    """One open stream: it sends each frame after `position` exactly once.

    If the run has ended with less text than `position`, it sends `reset` and everything.
    """

    def __init__(
        self, viewers: Viewers, feed: Feed, position: Position, *, session: str, user: int, password: str
    ) -> None:
        self.feed = feed
        self.session = session
        self.user = user
        self.password = password
        self._viewers = viewers
        self._position = position._replace(done=False)
        self._first = True
        self._resumed = position > Position() or bool(feed.state.info.earlier)
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

    async def frames(self) -> AsyncGenerator[bytes, None]:
        feed, state = self.feed, self.feed.state
        feed.subscribe()
        self._viewers.open.add(self)
        pings = state.ping_count
        # Of earlier problems, a new viewer is told only the one that still holds.
        problems = state.problem_count - (1 if state.has_current_problem else 0)
        try:
            yield sse.retry(random.randint(*RETRY_MILLISECONDS)) + feed.first_frame()
            while True:
                if self._revoked:
                    yield _signed_out_frame()
                    return
                if frame := self._advance():
                    yield frame
                    continue
                if feed.is_finished:
                    yield feed.last_frames(self._position, resumed=self._resumed)
                    return
                if self._closing:
                    yield RECONNECT
                    return
                if state.problem_count > problems:
                    problems = state.problem_count
                    yield state.problem()
                elif state.ping_count > pings:
                    pings = state.ping_count
                    yield sse.PING
                else:
                    await feed.changed()
        finally:
            feed.unsubscribe()
            self._viewers.leave(self)

    def _advance(self) -> bytes:
        """Return the next frame of text, or b"" if there is none yet."""
        state, start = self.feed.state, self._position
        if start.text > len(state.text) or start.reasoning > len(state.reasoning):
            if state.outcome is None:
                return b""  # the client is ahead of what this process has read: wait
            self._position, self._first = Position(), True
            return RESET
        following = self.feed.next_frame(start, first=self._first)
        if following is None:
            return b""
        self._first = False
        self._position, frame = following
        return frame


def _signed_out_frame() -> bytes:
    message = gettext("You’re signed out. Sign in to continue.")
    payload = {"response": "", "code": "signed_out", "message": message, "retryable": False}
    return sse.encode(sse.dumps(payload), event="problem")
