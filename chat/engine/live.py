"""A run's growing text in memory, and the pulse that tells its viewers.

Viewers hold a position each and no queue: a slow one gets fewer, bigger frames, and memory is that of the
text, however many watch. https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import asyncio
import uuid
from dataclasses import dataclass

from chat.wire import sse

from .ending import Ending
from .position import Position

PULSE = 0.03  # seconds between two wake-ups of the viewers; the first one is at once
FRAME = 16_384  # code points of text, and of reasoning, in one frame at most


@dataclass(frozen=True, slots=True)
class About:
    """What `event: meta` says of a run."""

    run: uuid.UUID
    conversation: uuid.UUID
    message: uuid.UUID
    user_message: uuid.UUID
    model: str

    def frame(self) -> bytes:
        payload = {
            "response": "",
            "v": 1,
            "conversation": str(self.conversation),
            "message": str(self.message),
            "user_message": str(self.user_message),
            "run": str(self.run),
            "model": self.model,
        }
        return sse.encode(sse.dumps(payload), event="meta")


class Live:
    """One run's two texts. They only grow, but for `replace`: a mirror needs it after a crash elsewhere."""

    def __init__(self, about: About) -> None:
        self.about = about
        self.text = ""
        self.reasoning = ""
        self.ending: Ending | None = None
        self.problem: bytes = b""
        self.problems = 0
        self.pings = 0
        self.viewers = 0
        self.last_pulse = asyncio.get_running_loop().time() - PULSE
        self._changed = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._cached: tuple[Position, Position, bytes] | None = None

    @property
    def end(self) -> Position:
        return Position(len(self.text), len(self.reasoning))

    def append(self, text: str, reasoning: str = "") -> None:
        self.text += text
        self.reasoning += reasoning
        self._touch()

    def replace(self, text: str, reasoning: str) -> None:
        """Take the database's text, which may be shorter than what a dead owner had sent."""
        if (text, reasoning) != (self.text, self.reasoning):
            self.text, self.reasoning = text, reasoning
            self._cached = None

    def finish(self, ending: Ending) -> None:
        """Announce an ending that is stored already."""
        self.ending = ending
        self.pulse()

    def report(self, code: str, message: str, *, retryable: bool = True) -> None:
        """Say a problem once to those who watch now; the run goes on."""
        payload = {"response": "", "code": code, "message": message, "retryable": retryable}
        self.problem = sse.encode(sse.dumps(payload), event="problem")
        self.problems += 1
        self.pulse()

    def ping(self, silence: float) -> None:
        """Let the viewers send a comment where nothing was said for `silence` seconds."""
        now = asyncio.get_running_loop().time()
        if now - self.last_pulse >= silence:
            self.pings += 1
            self.pulse()

    def pulse(self) -> None:
        """Wake every viewer. Each has a future of its own in the event, so cancelling one hurts no other."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.last_pulse = asyncio.get_running_loop().time()
        self._changed.set()
        self._changed.clear()

    async def changed(self) -> None:
        await self._changed.wait()

    def frame(self, start: Position, end: Position) -> bytes:
        """The frame that brings a viewer from `start` to `end`; encoded once for all who stand there."""
        if self._cached and self._cached[0] == start and self._cached[1] == end:
            return self._cached[2]
        payload = {"response": self.text[start.text : end.text]}
        if end.reasoning > start.reasoning:
            payload["reasoning"] = self.reasoning[start.reasoning : end.reasoning]
        frame = sse.encode(sse.dumps(payload), id=str(end))
        self._cached = (start, end, frame)
        return frame

    def next_stop(self, start: Position) -> Position:
        """How far one frame from `start` goes."""
        return Position(
            min(len(self.text), start.text + FRAME), min(len(self.reasoning), start.reasoning + FRAME)
        )

    def last_frames(self) -> bytes:
        """`done` with its id, and `[DONE]`; only after `finish`."""
        assert self.ending is not None
        done = sse.encode(
            sse.dumps(self.ending.payload()), event="done", id=str(self.end._replace(done=True))
        )
        return done + sse.DONE

    def _touch(self) -> None:
        if self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        wait = self.last_pulse + PULSE - loop.time()
        if wait <= 0:
            self.pulse()
        else:
            self._timer = loop.call_later(wait, self.pulse)
