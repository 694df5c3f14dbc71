"""A viewer without a task: it is called when there may be a frame, and refers to nothing of its request."""

import asyncio
import json
import uuid
from collections.abc import Callable

import pytest
from django.utils import translation

from chat.engine.outcome import RunOutcome
from chat.engine.streaming.feed import PlainFeed
from chat.engine.streaming.run_state import RunInfo, RunState
from chat.engine.streaming.viewer import RECONNECT, Viewer, Viewers
from chat.models import Run
from chat.wire import sse
from chat.wire.position import Position


@pytest.fixture
def run() -> RunState:
    return RunState(RunInfo(*(uuid.uuid4() for _ in range(4)), model="model"))


def watching(viewers: Viewers, run: RunState) -> Viewer:
    return Viewer(viewers, PlainFeed.of(run), Position(), session="", user=1, password="")


def message(frame: bytes) -> str:
    (event,) = sse.Decoder().feed(frame)
    sentence: str = json.loads(event.data)["message"]
    return sentence


async def called(viewer: Viewer, change: Callable[[], None]) -> int:
    """Return how often the viewer is called for one change and what follows it."""
    calls: list[int] = []
    viewer.call_on_change(lambda: calls.append(1))
    change()
    viewer.feed.wake()
    await asyncio.sleep(0.01)
    return len(calls)


async def test_a_viewer_is_called_once_for_a_change(run: RunState) -> None:
    viewer = watching(Viewers(), run)
    assert b"event: meta" in viewer.begin()
    assert viewer.next_frame() == b""
    assert await called(viewer, lambda: run.append("hello")) == 1
    assert b'"hello"' in viewer.next_frame()
    assert viewer.next_frame() == b""
    assert not viewer.ended


async def test_no_new_text_wakes_no_viewer(run: RunState) -> None:
    """A reply ends with the text that a filter held back, which is mostly none."""
    viewer = watching(Viewers(), run)
    viewer.begin()
    before = viewer.feed.last_wake
    run.append("")
    assert viewer.feed.last_wake == before
    run.append("hello")
    assert viewer.feed.last_wake > before


async def test_a_viewer_that_has_left_is_not_called(run: RunState) -> None:
    viewers = Viewers()
    viewer = watching(viewers, run)
    viewer.begin()
    assert (viewers.open, run.viewers) == ({viewer}, 1)
    assert await called(viewer, viewer.leave) == 0
    viewer.leave()
    assert (viewers.open, run.viewers) == (set(), 0)
    assert (viewer.ended, viewer.next_frame()) == (True, b"")


async def test_the_last_frame_ends_the_stream(run: RunState) -> None:
    viewer, closed = watching(Viewers(), run), watching(Viewers(), run)
    viewer.begin()
    closed.begin()
    closed.close_for_shutdown()
    assert (closed.next_frame(), closed.ended) == (RECONNECT, True)
    run.finish(RunOutcome(Run.Status.COMPLETE))
    assert viewer.next_frame().endswith(sse.DONE)
    assert (viewer.ended, viewer.next_frame()) == (True, b"")


async def test_a_sentence_has_the_language_of_the_request(run: RunState) -> None:
    with translation.override("de"):
        viewer = watching(Viewers(), run)
    viewer.begin()
    with translation.override("fr"):
        viewer.revoke()
        assert message(viewer.next_frame()) == "Du bist abgemeldet. Melde dich an, um fortzufahren."
    assert viewer.ended
