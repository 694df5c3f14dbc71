"""The feed of a run as HTML: rendered once for all viewers, and only while there are any.

Complete blocks of Markdown are rendered once, the open block again at most every 100 ms. A rendering that may
take long is done in a thread; the longer one took, the longer the next one waits.
"""

import asyncio
import logging
import time
from dataclasses import dataclass, field, replace
from functools import cached_property

from django.template.loader import render_to_string

from chat.conversations.tools.shown import shown_groups
from chat.db.fair_executor import RENDER_POOL
from chat.rendering.blocks import Blocks, Patch
from chat.wire import sse
from chat.wire.position import Position

from .feed import MAX_FRAME_CHARS, Feed, text_payload
from .run_state import RunState

BACKOFF_FACTOR = 10  # the next rendering waits for ten times as long as one took: 300 ms after 30 ms
INLINE_RENDER_LIMIT = 4_000  # code points of open text rendered on the event loop; a thread would cost more

logger = logging.getLogger(__name__)


@dataclass
class LatestFrame:
    """The patches from the previous rendering to the latest one, for viewers at `start`."""

    state: RunState
    start: Position
    end: Position
    patches: list[Patch]

    @cached_property
    def frame(self) -> bytes:
        """The SSE frame, encoded once for all viewers at `start`."""
        return frame(self.state, self.start, self.end, self.patches)


def frame(
    state: RunState, start: Position, end: Position, patches: list[Patch], steps: int | None = None
) -> bytes:
    payload = text_payload(state, start, end)
    if patches:
        payload["html"] = patches
    return sse.encode(sse.dumps(payload), id=state.frame_id(end, steps))


class HtmlFeed(Feed):
    """The feed of the HTML. `rendered` is the position up to which the text is rendered and may be sent."""

    interval = 0.1

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self._next_wake_at = 0.0
        self._is_finished = False
        self._final_patches: list[Patch] = []  # for `done`: link definitions at the end change earlier blocks
        self._working = False  # a thread is rendering
        self._render_failed = False  # from then on viewers get the text without HTML
        self.reset()

    @property
    def is_finished(self) -> bool:
        return self._is_finished

    def next_wake_at(self) -> float:
        return self._next_wake_at

    def reset(self) -> None:
        """Start again. A thread that still renders the old blocks goes on; its result is dropped."""
        self._blocks = Blocks(str(self.state.info.message), self.state.sources)
        self._blocks.feed(self.state.info.earlier_text)
        self._latest: LatestFrame | None = None
        self.rendered = Position()

    def forget_frames(self) -> None:
        if self._latest is not None:
            self._latest = replace(self._latest)  # without the cached `frame`

    def lacks_text_before_step(self, at: Position) -> bool:
        """Return True until the viewer has the text before the step, unless it would get more than that.

        A page that gets the step first would have to move it. A copy of a live run may lack that text.
        """
        offset = self.state.next_step(at.steps).text_offset - len(self.state.info.earlier_text)
        end = offset if self.state.outcome is None else min(offset, len(self.state.text))
        return at.text < end and self.rendered.text <= offset

    def _step_extras(self) -> dict[str, object]:
        steps = [*self.state.earlier_steps, *self.state.steps.values()]
        text, live = self.state.info.earlier_text + self.state.text, self.state.outcome is None
        groups = shown_groups(steps, text, live=live, asks=True)
        parts = [render_to_string("chat/_steps.html", {"steps": each}) for each in groups]
        return {"steps_html": "".join(parts)}

    def subscribe(self) -> None:
        super().subscribe()
        if self.state.outcome is not None:
            self.finish()
        elif self.rendered != self.state.end:
            self.schedule()

    def schedule(self) -> None:
        if not self._working:
            super().schedule()

    def finish(self) -> None:
        """Render what is left; the viewers are sent the outcome after that."""
        if self._is_finished:
            self.wake()
        elif self.viewers and not self._working:
            self._flush()

    def first_frame(self) -> bytes:
        """Return `meta` with the time of the message, which the page shows."""
        info = self.state.info
        return info.frame(**({"created": info.created.isoformat()} if info.created else {}))

    def next_frame(
        self, at: Position, *, first: bool, steps: int | None = None
    ) -> tuple[Position, bytes] | None:
        if self._latest is not None and at == self._latest.start and not first and steps is None:
            return self._latest.end, self._latest.frame
        if self._working or (at.text >= self.rendered.text and at.reasoning >= self.rendered.reasoning):
            return None
        return self._catch_up_frame(at, steps)

    def _catch_up_frame(self, at: Position, steps: int | None) -> tuple[Position, bytes]:
        """Return (end position, frame) for a viewer that does not have the previous rendering.

        The frame has the whole HTML of every block that was open at `at`.
        """
        patches: list[Patch] = []
        text, before = at.text, len(self.state.info.earlier_text)
        if self._render_failed:
            text = min(self.rendered.text, text + MAX_FRAME_CHARS)
        elif text < self.rendered.text:
            patches, reached = self._blocks.patches_page(before + text, MAX_FRAME_CHARS)
            text = reached - before
        end = Position(text, min(self.rendered.reasoning, at.reasoning + MAX_FRAME_CHARS))
        return end, frame(self.state, at, end, patches, steps)

    def _last_words(self, at: Position, *, resumed: bool) -> dict[str, object]:
        html = self._final_patches
        # A resumed viewer may show other renderings than those that `_final_patches` corrects.
        if resumed and not self._render_failed:
            html = self._blocks.patches_since(len(self.state.info.earlier_text) + at.text)
        return {"html": html} if html else {}

    def _flush(self) -> None:
        """Render the text that is new since the last rendering, in a thread if that may take long."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        state, blocks = self.state, self._blocks
        job = RenderJob(blocks, state.end, ends=state.outcome is not None, failed=self._render_failed)
        blocks.set_sources(state.sources)
        blocks.feed(state.text[self.rendered.text :])
        length = len(blocks.text) if job.ends else blocks.open_length
        if length <= INLINE_RENDER_LIMIT and not blocks.may_highlight(whole=job.ends):
            job.run()
            self._apply(job)
        else:
            self._working = True
            done = asyncio.wrap_future(RENDER_POOL.submit(state.info.user, job.run), loop=self._loop)
            done.add_done_callback(lambda done: self._on_render_done(job, done))

    def _on_render_done(self, job: "RenderJob", done: "asyncio.Future[None]") -> None:
        self._working = False
        done.result()
        if job.blocks is self._blocks:
            self._apply(job)
        if self.state.outcome is not None:
            self.finish()
        elif self.rendered != self.state.end:
            self.schedule()

    def _apply(self, job: "RenderJob") -> None:
        self._render_failed = job.failed
        if job.end != self.rendered:
            self._latest = LatestFrame(self.state, self.rendered, job.end, job.patches)
            self.rendered = job.end
        self._next_wake_at = self._loop.time() + max(self.interval, BACKOFF_FACTOR * job.seconds)
        if job.ends:
            self._is_finished = True
            self._final_patches = job.final_patches
        self.wake()


@dataclass
class RenderJob:
    """One rendering, of all text up to `end`; `ends`: the run has ended, so no more text follows."""

    blocks: Blocks
    end: Position
    ends: bool
    failed: bool
    seconds: float = 0.0
    patches: list[Patch] = field(default_factory=list)
    final_patches: list[Patch] = field(default_factory=list)

    def run(self) -> None:
        """Render. If the renderer fails, log and set `failed`: the reply loses its format, not its text."""
        if self.failed:
            return
        began = time.perf_counter()
        try:
            self.patches = self.blocks.flush()
            self.final_patches = self.blocks.finish() if self.ends else []
        except BaseException:  # a panic of the Rust parser is a BaseException
            logger.exception("a reply could not be rendered")
            self.failed = True
        self.seconds = time.perf_counter() - began
