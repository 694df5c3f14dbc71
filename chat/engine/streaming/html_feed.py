"""A run as a page shows it: rendered once for all who watch, and only while somebody does.

Blocks of Markdown that are complete are rendered once, the open one again at most every 100 ms. A rendering
that takes long is done in a thread, and the next one waits the longer.
"""

import asyncio
import logging
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from chat.fair_executor import rendering
from chat.rendering.blocks import Blocks, Patch
from chat.wire import sse

from .feed import PORTION, Feed, said
from .position import Position

if TYPE_CHECKING:
    from .run_state import Live

SHARE = 10  # after a rendering of 30 ms the next one waits for ten times as long
AT_ONCE = 4_000  # code points of open text that are rendered on the event loop: a thread costs more

logger = logging.getLogger(__name__)


@dataclass
class Step:
    """What the latest rendering brought to those who had the one before."""

    live: "Live"
    start: Position
    end: Position
    patches: list[Patch]

    @cached_property
    def frame(self) -> bytes:
        """Encoded once for all who stand at `start`."""
        return frame(self.live, self.start, self.end, self.patches)


def frame(live: "Live", start: Position, end: Position, patches: list[Patch]) -> bytes:
    payload = said(live, start, end)
    if patches:
        payload["html"] = patches
    return sse.encode(sse.dumps(payload), id=str(end))


class Page(Feed):
    """`rendered` is how far the HTML reaches: viewers never get text beyond it."""

    interval = 0.1

    def __init__(self, live: "Live") -> None:
        super().__init__(live)
        self._due = 0.0
        self._over = False
        self._late: list[Patch] = []  # what `done` corrects: definitions may stand at the end
        self._working = False
        self._broken = False  # the renderer failed: the text goes on, without HTML
        self.forget()

    @property
    def over(self) -> bool:
        return self._over

    def due(self) -> float:
        return self._due

    def forget(self) -> None:
        """Begin anew. A thread that works on the old blocks goes on with them in vain."""
        self._blocks = Blocks(str(self.live.about.message))
        self._blocks.feed(self.live.about.earlier)
        self._step: Step | None = None
        self.rendered = Position()

    def join(self) -> None:
        super().join()
        if self.live.ending is not None:
            self.end()
        elif self.rendered != self.live.end:
            self.touch()

    def touch(self) -> None:
        if not self._working:
            super().touch()

    def end(self) -> None:
        """Render what is left; the ending is told when that is done."""
        if self._over:
            self.pulse()
        elif self.viewers and not self._working:
            self._work()

    def advance(self, at: Position, *, first: bool) -> tuple[Position, bytes] | None:
        if self._step is not None and at == self._step.start and not first:
            return self._step.end, self._step.frame
        if self._working or (at.text >= self.rendered.text and at.reasoning >= self.rendered.reasoning):
            return None
        return self._portion(at)

    def _portion(self, at: Position) -> tuple[Position, bytes]:
        """For who comes from elsewhere: every block that was open there, whole."""
        patches: list[Patch] = []
        text, before = at.text, len(self.live.about.earlier)
        if self._broken:
            text = min(self.rendered.text, text + PORTION)
        elif text < self.rendered.text:
            patches, reached = self._blocks.portion(before + text, PORTION)
            text = reached - before
        end = Position(text, min(self.rendered.reasoning, at.reasoning + PORTION))
        return end, frame(self.live, at, end, patches)

    def _last_words(self, at: Position, *, resumed: bool) -> dict[str, object]:
        html = self._late
        if resumed and not self._broken:  # it has seen other renderings than those that `_late` corrects
            html = self._blocks.since(len(self.live.about.earlier) + at.text)
        return {"html": html} if html else {}

    def _work(self) -> None:
        """Render what has come since the last time, in a thread if that is much."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        live, blocks = self.live, self._blocks
        job = Job(blocks, live.end, ends=live.ending is not None, broken=self._broken)
        blocks.feed(live.text[self.rendered.text :])
        length = len(blocks.text) if job.ends else blocks.open_length
        if length <= AT_ONCE and not blocks.may_colour(whole=job.ends):
            job.do()
            self._take(job)
        else:
            self._working = True
            done = asyncio.wrap_future(rendering.submit(live.about.user, job.do), loop=self._loop)
            done.add_done_callback(lambda done: self._landed(job, done))

    def _landed(self, job: "Job", done: "asyncio.Future[None]") -> None:
        self._working = False
        done.result()
        if job.blocks is self._blocks:
            self._take(job)
        if self.live.ending is not None:
            self.end()
        else:
            self.touch()

    def _take(self, job: "Job") -> None:
        self._broken = job.broken
        if job.reach != self.rendered:
            self._step = Step(self.live, self.rendered, job.reach, job.patches)
            self.rendered = job.reach
        self._due = self._loop.time() + max(self.interval, SHARE * job.seconds)
        if job.ends:
            self._over, self._late = True, job.late
        self.pulse()


@dataclass
class Job:
    """One rendering, of all text up to `reach`; of the run's last text where it `ends`."""

    blocks: Blocks
    reach: Position
    ends: bool
    broken: bool
    seconds: float = 0.0
    patches: list[Patch] = field(default_factory=list)
    late: list[Patch] = field(default_factory=list)

    def do(self) -> None:
        """A renderer that fails costs the reply its looks, never its words."""
        if self.broken:
            return
        began = time.perf_counter()
        try:
            self.patches = self.blocks.flush()
            self.late = self.blocks.finish() if self.ends else []
        except BaseException:  # the parser is Rust, whose panics are no Exception
            logger.exception("a reply could not be rendered")
            self.broken = True
        self.seconds = time.perf_counter() - began
