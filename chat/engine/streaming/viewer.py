"""One open stream: a position in a run, and who is watching."""

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
RETRY_MILLISECONDS = (700, 2700)  # milliseconds; spread, so that a restart is not met by everybody at once


class Viewers:
    """The open streams of this process: those whose right is checked, and who are told of a shutdown."""

    def __init__(self) -> None:
        self.open: set[Viewer] = set()
        self.closing = False
        self._last_left = asyncio.Event()

    def leave(self, viewer: "Viewer") -> None:
        self.open.discard(viewer)
        if not self.open:
            self._last_left.set()

    def close_for_shutdown(self, has_ended: Callable[[uuid.UUID], bool]) -> None:
        """Tell everybody to reconnect, but for those whose run has ended: they see that first."""
        self.closing = True
        for viewer in list(self.open):
            if not has_ended(viewer.feed.state.info.run):
                viewer.close_for_shutdown()

    async def wait_closed(self, timeout: float) -> None:
        """Let the open streams take their last frames, for `timeout` seconds."""
        self._last_left.clear()
        if self.open:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._last_left.wait(), timeout)


class Viewer:
    """What one stream sends: exactly the rest after `position`, or `reset` and everything."""

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
        """The right to watch is gone: say so and end, without `[DONE]`."""
        self._revoked = True
        self.feed.wake()

    def close_for_shutdown(self) -> None:
        """The server is going away: say so and end; the run is kept."""
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
        """The next frame of text, or b"" where there is none yet."""
        live, start = self.feed.state, self._position
        if start.text > len(live.text) or start.reasoning > len(live.reasoning):
            if live.outcome is None:
                return b""  # ahead of what this process knows: wait
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
