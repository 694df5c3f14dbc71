"""How a run's text reaches its viewers: each holds a position and no queue, and is woken when there is more.

A slow viewer gets fewer, bigger frames, and memory is that of the text, however many watch.
https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import asyncio
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from chat.wire import sse

from .position import Position

if TYPE_CHECKING:
    from .run_state import RunState

MAX_FRAME_CHARS = 16_384  # code points of text, and of reasoning, in one frame at most


class Feed(ABC):
    """One way to show a run. Its viewers are woken at most every `interval` seconds, at once at first."""

    interval: ClassVar[float]

    def __init__(self, live: "RunState") -> None:
        self.state = live
        self.viewers = 0
        self._loop = asyncio.get_running_loop()
        self.last_wake = self._loop.time() - self.interval
        self._changed = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    @property
    @abstractmethod
    def is_finished(self) -> bool:
        """The run has ended, and `last_frames` may be sent to who has everything before them."""

    @abstractmethod
    def next_frame(self, at: Position, *, first: bool) -> tuple[Position, bytes] | None:
        """The frame that follows `at`, and where it ends; None where there is none yet.

        `first`: nothing was sent to this viewer before.
        """

    def last_frames(self, at: Position, *, resumed: bool) -> bytes:
        """`done` with its id, and `[DONE]`, for a viewer at `at`, which is the end of the text.

        `resumed`: it had some text before it came here.
        """
        assert self.state.outcome is not None
        payload = sse.dumps(self.state.outcome.payload() | self._last_words(at, resumed=resumed))
        return sse.encode(payload, event="done", id=str(self.state.end._replace(done=True))) + sse.DONE

    def _last_words(self, at: Position, *, resumed: bool) -> dict[str, object]:
        """What `done` says beside how the run ended."""
        return {}

    def subscribe(self) -> None:
        self.viewers += 1

    def unsubscribe(self) -> None:
        self.viewers -= 1

    def schedule(self) -> None:
        """There is more."""
        if self._timer is not None or not self.viewers:
            return
        wait = self.next_wake_at() - self._loop.time()
        if wait <= 0:
            self._flush()
        else:
            self._timer = self._loop.call_later(wait, self._flush)

    def next_wake_at(self) -> float:
        """When the viewers may be woken next, on the loop's clock."""
        return self.last_wake + self.interval

    def end(self) -> None:
        """The run's ending is known."""
        self.wake()

    @abstractmethod
    def reset(self) -> None:
        """The text is another than before, not only more."""

    def _flush(self) -> None:
        """What is done before the viewers are woken."""
        self._timer = None
        self.wake()

    def wake(self) -> None:
        """Wake every viewer. Each has a future of its own in the event, so cancelling one hurts no other."""
        self.last_wake = self._loop.time()
        self._changed.set()
        self._changed.clear()

    async def changed(self) -> None:
        await self._changed.wait()


class PlainFeed(Feed):
    """The text as the model writes it."""

    interval = 0.03

    def __init__(self, live: "RunState") -> None:
        super().__init__(live)
        self._cached: tuple[Position, Position, bytes] | None = None

    @property
    def is_finished(self) -> bool:
        return self.state.outcome is not None

    def next_frame(self, at: Position, *, first: bool) -> tuple[Position, bytes] | None:
        live = self.state
        end = Position(
            min(len(live.text), at.text + MAX_FRAME_CHARS),
            min(len(live.reasoning), at.reasoning + MAX_FRAME_CHARS),
        )
        return None if end == at else (end, self._frame(at, end))

    def reset(self) -> None:
        self._cached = None

    def _frame(self, start: Position, end: Position) -> bytes:
        """Encoded once for all who stand at `start`."""
        if self._cached and self._cached[:2] == (start, end):
            return self._cached[2]
        frame = sse.encode(sse.dumps(text_payload(self.state, start, end)), id=str(end))
        self._cached = (start, end, frame)
        return frame


def text_payload(live: "RunState", start: Position, end: Position) -> dict[str, object]:
    """The texts of a frame from `start` to `end`."""
    payload: dict[str, object] = {"response": live.text[start.text : end.text]}
    if end.reasoning > start.reasoning:
        payload["reasoning"] = live.reasoning[start.reasoning : end.reasoning]
    return payload
