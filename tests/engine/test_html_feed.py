"""The HTML frames of a run: the same text, however it was cut into pieces."""

import asyncio
import json
import random
import uuid
from contextlib import aclosing

import pytest

from chat.engine.outcome import RunOutcome
from chat.engine.streaming.html_feed import HtmlFeed
from chat.engine.streaming.run_state import RunInfo, RunState
from chat.engine.streaming.viewer import Viewer, Viewers
from chat.models import Step
from chat.rendering.blocks import Blocks, Patch
from chat.rendering.markdown import render
from chat.wire import sse
from chat.wire.position import Position
from tests.rendering.page import patched
from tests.support.server import Server
from tests.support.waiting import PATIENCE, becomes

TEXT = """# Counting

Some *words* and a [link][late], then

- one
- two
  - three

| a | b |
|---|--:|
| 1 | 2 |

```python
for number in range(3):
    print(number < 2)
```

> A quote
> of two lines[^1]

The end.

[late]: https://example.org/
[^1]: A note.
"""


class Reader:
    """A page that follows a run, and what stands on it: at first what the server's page showed there."""

    def __init__(self, run: RunState, position: Position = Position(), shown: str = "") -> None:
        self.blocks = render(shown, str(run.info.message))
        self.frames: list[bytes] = []
        self.text = ""
        self.position = position
        self._viewer = Viewer(Viewers(), HtmlFeed.of(run), position, session="", user=1, password="")
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        decoder = sse.Decoder()
        async with aclosing(self._viewer.frames()) as frames:
            async for frame in frames:
                self.frames.append(frame)
                for event in decoder.feed(frame):
                    self._take(event)

    def _take(self, event: sse.Event) -> None:
        if event.id:
            self.position = Position.parse(event.id)
        if event.data.startswith("{"):
            payload = json.loads(event.data)
            self.text += payload["response"]
            self.blocks = patched(self.blocks, payload.get("html", []))

    async def end(self) -> list[str]:
        async with asyncio.timeout(PATIENCE):
            await self._task
        return self.blocks

    def leave(self) -> None:
        self._task.cancel()


def run_state(earlier: str = "") -> RunState:
    return RunState(RunInfo(*(uuid.uuid4() for _ in range(4)), "model", earlier))


def parts(text: str, length: int = 100) -> list[str]:
    """Cut the text into pieces. Tests await a page after each: rendering becomes rarer as a text grows."""
    return [text[at : at + length] for at in range(0, len(text), length)]


async def write(run: RunState, text: str, pieces: random.Random) -> None:
    """Write as a model does, and a little faster than pages are rendered."""
    while text:
        size = pieces.randint(1, 40)
        run.append(text[:size])
        text = text[size:]
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("seed", range(3))
async def test_a_reload_shows_the_streamed_html(seed: int) -> None:
    run = run_state()
    reader = Reader(run)
    for part in parts(TEXT):
        await write(run, part, random.Random(seed))
        await becomes(lambda: reader.text == run.text)
    run.finish(RunOutcome("complete"))
    assert await reader.end() == render(TEXT, str(run.info.message))
    assert reader.text == TEXT
    assert len(reader.frames) > 4


@pytest.mark.parametrize("seed", range(3))
async def test_a_page_that_comes_and_goes_shows_the_same(seed: int) -> None:
    run, chance = run_state(), random.Random(seed)
    writing = asyncio.create_task(write(run, TEXT, chance))
    reader = Reader(run)
    while not writing.done():
        await asyncio.sleep(chance.random() * 0.2)
        reader.leave()
        back = Reader(run, reader.position)
        back.blocks, reader = reader.blocks, back
    run.finish(RunOutcome("complete"))
    assert await reader.end() == render(TEXT, str(run.info.message))


@pytest.mark.parametrize("at", [0, 1, 40, 90, 150, 190, len(TEXT) - 30, len(TEXT)])
async def test_feed_continues_a_page_rendered_midway(at: int) -> None:
    run = run_state()
    run.append(TEXT[:at])
    reader = Reader(run, run.end, TEXT[:at])
    await write(run, TEXT[at:], random.Random(at))
    run.finish(RunOutcome("complete"))
    assert await reader.end() == render(TEXT, str(run.info.message))


@pytest.mark.parametrize("at", [10, 45, 120, 170])
async def test_a_continued_reply_has_no_seam(at: int) -> None:
    """Positions count the new text only, blocks those of the whole message."""
    run = run_state(earlier=TEXT[:at])
    reader = Reader(run, shown=TEXT[:at])
    await write(run, TEXT[at:], random.Random(at))
    run.finish(RunOutcome("complete"))
    assert await reader.end() == render(TEXT, str(run.info.message))
    assert reader.text == TEXT[at:]
    assert reader.position == Position(len(TEXT) - at, done=True)


async def test_a_finished_run_is_told_in_portions() -> None:
    text = "\n\n".join(f"Paragraph {number} " + "word " * 200 for number in range(60))
    run = run_state()
    run.append(text)
    run.finish(RunOutcome("complete"))
    reader = Reader(run)
    assert await reader.end() == render(text, str(run.info.message))
    assert len(reader.frames) > 4
    assert max(len(frame) for frame in reader.frames) < 60_000


async def test_a_run_is_rendered_once_and_only_if_watched() -> None:
    run = run_state()
    run.append("some *text*")
    await asyncio.sleep(0.15)
    assert HtmlFeed.of(run).rendered == Position()
    readers = [Reader(run) for _ in range(3)]
    for part in parts(TEXT):
        await write(run, part, random.Random(0))
        await becomes(lambda: {reader.text for reader in readers} == {run.text})
    run.finish(RunOutcome("complete"))
    for reader in readers:
        await reader.end()
    one, *others = ([id(frame) for frame in reader.frames[2:-1]] for reader in readers)
    assert len(one) > 1
    assert all(other == one for other in others)


async def test_reasoning_comes_as_it_is_and_before_the_text() -> None:
    run = run_state()
    reader = Reader(run)
    run.append("", "Let *me* see. ")
    await becomes(lambda: b'"reasoning":"Let *me* see. "' in b"".join(reader.frames[-1:]))
    assert reader.blocks == []
    run.append("**Yes.**")
    run.finish(RunOutcome("complete"))
    assert await reader.end() == render("**Yes.**")


async def test_in_a_copy_a_step_waits_for_the_text_before_it() -> None:
    """The owner stores a step at once, and its text a little later."""
    run = run_state()
    reader = Reader(run)
    run.append("I ")
    run.show_steps([Step(number=1, revision=1, tool="web_search", text_offset=7)])
    await becomes(lambda: reader.text == "I ")
    assert reader.position.steps == 0
    run.append("look.")
    await becomes(lambda: reader.position == Position(7, steps=1))
    assert b'data-after=\\"1\\"' in reader.frames[-1]
    run.show_steps([Step(number=2, revision=2, tool="web_search", text_offset=9)])
    run.finish(RunOutcome("interrupted"))  # what follows is lost
    await reader.end()
    assert reader.position == Position(7, steps=4, done=True)  # both were stopped


async def test_a_text_that_shrank_is_shown_anew() -> None:
    """A process died with text that it had sent and not stored."""
    run = run_state()
    reader = Reader(run)
    run.append("one two *three*")
    await becomes(lambda: reader.text == "one two *three*")
    run.replace("one", "")
    run.finish(RunOutcome("interrupted"))
    assert await reader.end() == render("one")
    assert any(b"event: reset" in frame for frame in reader.frames)


async def test_a_long_open_block_leaves_the_loop_to_others() -> None:
    """Render it in a thread; the end of the run waits for that."""
    run = run_state()
    reader = Reader(run)
    text = "".join(f"- item *{number}*\n" for number in range(30_000 // 14))
    await write(run, text[:200], random.Random(0))
    run.append(text[200:])
    run.finish(RunOutcome("complete"))
    assert await reader.end() == render(text)


async def test_a_silent_model_makes_no_work_and_is_pinged() -> None:
    run = run_state()
    reader = Reader(run)
    run.append("```\nprint()\n```\n")  # rendered in a thread
    await becomes(lambda: reader.text == run.text)
    await asyncio.sleep(0.4)
    run.ping(silence=0.3)
    assert run.ping_count == 1


async def test_a_renderer_that_fails_costs_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(self: Blocks) -> list[Patch]:
        raise BaseException("as Rust's panics come")

    monkeypatch.setattr(Blocks, "flush", panic)
    run = run_state()
    reader = Reader(run)
    await write(run, TEXT, random.Random(0))
    run.finish(RunOutcome("complete"))
    assert await reader.end() == []
    assert reader.text == TEXT


@pytest.mark.database
def test_a_server_s_page_and_its_stream_show_the_same(server: Server) -> None:
    alice = server.person("alice")
    stream = alice.asked("fake: words tokens=40 delay=0.02", "/c/?html=1")
    assert stream.blocks == render(stream.text)
    again = alice.followed(stream.run, page=True)
    assert again.blocks == stream.blocks
    plain = alice.followed(stream.run)
    assert plain.text == stream.text
    assert plain.blocks == []
