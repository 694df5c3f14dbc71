"""The recording: a question is typed, and its reply appears as the page shows it.

The model says the next words only when the page has shown the last ones and a picture of it was taken. So the
film is smooth however busy the machine is. It plays at the page's own pace: ten renderings a second.
"""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path

from playwright.sync_api import Page, expect

from chat.rendering.blocks import Blocks
from tests.e2e.chat_page import ChatPage
from tests.fake_cloudflare import frames
from tests.rendering.page import Tree, patched
from tests.tools.images.frame import save, save_film
from tests.tools.images.prompter import ALL
from tests.tools.images.sample_replies import RAIN, RAIN_SAID
from tests.tools.images.stage import SHARP, Stage

SIZE = (760, 650)
TYPED, WORDS = 4, 2  # letters and words a picture
EMPTY, KEY, WAIT, STEP, END = 500, 80, 400, 100, 2500  # milliseconds
TEXT = "document.querySelector('article.reply [data-part=text]').textContent"
SHOWS = f"said => {TEXT}.replace(/\\s/g, '') === said"
Shots = Iterator[tuple[bytes, int]]


def reply(stage: Stage, file: Path, still: Path) -> None:
    """Film a reply, and save its last picture for people who prefer no motion."""
    with stage.page("alice", *SIZE) as page:
        page.goto("/")
        chat = ChatPage(page)
        expect(chat.box).to_be_focused()
        chat.box.evaluate("box => { box.style.caretColor = 'transparent'; }")  # it would blink at random
        shots = [*_typed(chat), *_streamed(stage, chat)]
    save_film(shots, "light", file)
    save(shots[-1][0], "light", still)


def _typed(chat: ChatPage) -> Shots:
    shoot = _camera(chat.page)
    yield shoot(), EMPTY
    for end in range(TYPED, len(RAIN) + TYPED, TYPED):
        chat.box.fill(RAIN[:end])
        yield shoot(), KEY


def _streamed(stage: Stage, chat: ChatPage) -> Shots:
    shoot = _camera(chat.page)
    stage.prompter.let = 0
    chat.box.press("Enter")
    expect(chat.page.get_by_text("Waiting for the reply")).to_be_visible()
    chat.has_address()
    yield shoot(), WAIT
    for words, shown in _steps():
        stage.prompter.let = words
        chat.page.wait_for_function(SHOWS, arg=shown)
        yield shoot(), STEP
    stage.prompter.let = ALL
    chat.ended()
    yield shoot(), END


def _steps() -> Iterator[tuple[int, str]]:
    """Yield so many words, and the letters that a page shows of them; only steps that add some."""
    words = frames.tokens_of(RAIN_SAID.rstrip())
    blocks, page, before = Blocks(), list[str](), ""
    for begin in range(0, len(words), WORDS):
        blocks.feed("".join(words[begin : begin + WORDS]))
        page = patched(page, blocks.flush())
        shown = "".join(Tree("".join(page)).text.split())
        if shown != before:
            yield begin + WORDS, shown
        before = shown


def _camera(page: Page) -> Callable[[], bytes]:
    """Takes pictures faster than `page.screenshot`: the last one tells how long the reply took."""
    session = page.context.new_cdp_session(page)
    clip = {"x": 0, "y": 0, "width": SIZE[0], "height": SIZE[1], "scale": SHARP}
    how = {"format": "png", "optimizeForSpeed": True, "clip": clip}

    def shoot() -> bytes:
        return base64.b64decode(session.send("Page.captureScreenshot", how)["data"])

    return shoot
