"""Viewers: the open streams of this process, each with its user and its position in a run."""

import asyncio
import contextlib
import random
import uuid
from collections.abc import AsyncGenerator, Callable

from django.utils.translation import gettext

from chat.wire import sse

from .feed import Feed
from .position import Position

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
    """One open stream: sends exactly the rest after `position`.

    If the run ended with less text than `position`, it sends `reset` and everything.
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
        """End the stream because access was lost: the viewer is told, and gets no `[DONE]`."""
        self._revoked = True
        self.feed.wake()

    def close_for_shutdown(self) -> None:
        """End the stream because the server shuts down: the viewer is told to reconnect, the run is kept."""
        self._closing = True
        self.feed.wake()

    async def frames(self) -> AsyncGenerator[bytes, None]:
        feed, live = self.feed, self.feed.state
        feed.subscribe()
        self._viewers.open.add(self)
        pings, problems = live.pings, live.problems - live.has_standing_problem
        try:
            yield sse.retry(random.randint(*RETRY_MILLISECONDS)) + live.info.frame()
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
                if live.problems > problems:
                    problems = live.problems
                    yield live.problem()
                elif live.pings > pings:
                    pings = live.pings
                    yield sse.PING
                else:
                    await feed.changed()
        finally:
            feed.unsubscribe()
            self._viewers.leave(self)

    def _advance(self) -> bytes:
        """Return the next frame of text, or b"" if there is none yet."""
        live, start = self.feed.state, self._position
        if start.text > len(live.text) or start.reasoning > len(live.reasoning):
            if live.outcome is None:
                return b""  # the client is ahead of what this process has read: wait
            self._position, self._first = Position(), True
            return RESET
        step = self.feed.next_frame(start, first=self._first)
        if step is None:
            return b""
        self._first = False
        self._position, frame = step
        return frame


def _signed_out_frame() -> bytes:
    message = gettext("You are signed out. Sign in to go on.")
    payload = {"response": "", "code": "signed_out", "message": message, "retryable": False}
    return sse.encode(sse.dumps(payload), event="problem")
