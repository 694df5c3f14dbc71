"""The feeds of a run: they encode its text for its viewers, and wake them.

A viewer holds a position, not a queue of frames. So a slow viewer gets fewer, bigger frames, and all viewers
together need no more memory than the text.
https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import asyncio
from abc import ABC, abstractmethod
from contextvars import Context
from typing import ClassVar, Protocol, Self

from chat.wire import sse
from chat.wire.position import Position

from .run_state import RunState

NO_REQUEST = Context()  # in which no context variable of a request is set
MAX_FRAME_CHARS = 16_384  # code points per frame, of text and of reasoning each


class SleepingViewer(Protocol):
    """A viewer that is to be woken when its feed has changed. It has no task that could wait for that."""

    def wake(self) -> None:
        """Note that the feed has changed."""


class Feed(ABC):
    """One representation of a run. Wakes its viewers at once, then at most every `interval` seconds."""

    interval: ClassVar[float]

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.viewers = 0
        self._loop = asyncio.get_running_loop()
        self.last_wake = self._loop.time() - self.interval
        self.asleep: set[SleepingViewer] = set()
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    def of(cls, state: RunState) -> Self:
        """Return the state's feed of this class, created on first use."""
        for listener in state.listeners:
            if isinstance(listener, cls):
                return listener
        feed = cls(state)
        state.listeners.append(feed)
        return feed

    @property
    @abstractmethod
    def is_finished(self) -> bool:
        """True if the run has ended and `last_frames` may be sent to a viewer that has all other frames."""

    def first_frame(self) -> bytes:
        """Return `meta`, with which every stream begins."""
        return self.state.info.frame()

    @abstractmethod
    def next_frame(
        self, at: Position, *, first: bool, steps: int | None = None
    ) -> tuple[Position, bytes] | None:
        """Return (end position, SSE frame) of the frame that follows `at`; None if there is none yet.

        `first`: nothing has been sent to this viewer before. `steps`: the changes of steps that it has, if
        that is not all.
        """

    def last_frames(self, at: Position, *, resumed: bool) -> bytes:
        """Return `done` with its id, and `[DONE]`, for a viewer at `at`, which is the end of the text.

        `resumed`: the viewer had some of the text before this stream began.
        """
        assert self.state.outcome is not None
        payload = sse.dumps(self.state.outcome.payload() | self._last_words(at, resumed=resumed))
        return sse.encode(payload, event="done", id=self.state.frame_id(self.state.end) + "!") + sse.DONE

    def step_frame(self, at: Position) -> tuple[Position, bytes]:
        """Return (position, SSE frame) of the next change of a step that a viewer at `at` has not seen."""
        step = self.state.next_step(at.steps)
        end = at._replace(steps=step.revision)
        payload = sse.dumps({"response": "", "step": step.payload()} | self._step_extras())
        return end, sse.encode(payload, event="step", id=str(end))

    def lacks_text_before_step(self, at: Position) -> bool:
        """Return True if a viewer at `at` should get the text before the next step first."""
        return False

    def _step_extras(self) -> dict[str, object]:
        """Return what the frame of a step contains beside the step."""
        return {}

    def _last_words(self, at: Position, *, resumed: bool) -> dict[str, object]:
        """Return what `done` contains beside the outcome of the run."""
        return {}

    def subscribe(self) -> None:
        self.viewers += 1

    def unsubscribe(self) -> None:
        self.viewers -= 1

    def schedule(self) -> None:
        """Wake the viewers for new text as soon as `interval` allows."""
        if self._timer is not None or not self.viewers:
            return
        wait = self.next_wake_at() - self._loop.time()
        if wait <= 0:
            self._flush()
        else:
            self._timer = self._loop.call_later(wait, self._flush)

    def next_wake_at(self) -> float:
        """Return the earliest time of the next wake-up, on the event loop's clock."""
        return self.last_wake + self.interval

    def finish(self) -> None:
        self.wake()

    def steps_changed(self) -> None:
        """Announce a step. The ids of all frames change with it."""
        self.forget_frames()
        self.wake()

    @abstractmethod
    def forget_frames(self) -> None:
        """Drop the frames that were encoded for all viewers."""

    @abstractmethod
    def reset(self) -> None:
        """Start again: the text was replaced, not only extended."""

    def _flush(self) -> None:
        """Prepare the new frames, if the feed has to, and wake the viewers."""
        self._timer = None
        self.wake()

    def wake(self) -> None:
        self.last_wake = self._loop.time()
        woken, self.asleep = self.asleep, set()
        for viewer in woken:
            self._loop.call_soon(viewer.wake, context=NO_REQUEST)


class PlainFeed(Feed):
    """The feed of the text as the model writes it."""

    interval = 0.03

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self._cached: tuple[Position, Position, bytes] | None = None

    @property
    def is_finished(self) -> bool:
        return self.state.outcome is not None

    def next_frame(
        self, at: Position, *, first: bool, steps: int | None = None
    ) -> tuple[Position, bytes] | None:
        end = Position(
            min(len(self.state.text), at.text + MAX_FRAME_CHARS),
            min(len(self.state.reasoning), at.reasoning + MAX_FRAME_CHARS),
        )
        return None if end == at else (end, self._frame(at, end))

    def reset(self) -> None:
        self.forget_frames()

    def forget_frames(self) -> None:
        self._cached = None

    def _frame(self, start: Position, end: Position) -> bytes:
        """Return the frame, encoded once for all viewers at `start`."""
        if self._cached and self._cached[:2] == (start, end):
            return self._cached[2]
        payload = sse.dumps(text_payload(self.state, start, end))
        frame = sse.encode(payload, id=self.state.frame_id(end))
        self._cached = (start, end, frame)
        return frame


def text_payload(state: RunState, start: Position, end: Position) -> dict[str, object]:
    """Return the payload of a frame from `start` to `end`: `response`, and `reasoning` if there is any."""
    payload: dict[str, object] = {"response": state.text[start.text : end.text]}
    if end.reasoning > start.reasoning:
        payload["reasoning"] = state.reasoning[start.reasoning : end.reasoning]
    return payload
