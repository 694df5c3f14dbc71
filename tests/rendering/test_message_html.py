"""Messages of a page: rendered once, kept within a bound of bytes, coloured within a budget."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from chat.rendering import message_html
from chat.rendering.blocks import Blocks
from chat.rendering.code_blocks import FENCE_COST, HIGHLIGHT_BUDGET_CHARS
from chat.rendering.markdown import render
from chat.rendering.message_html import PAGE_BUDGET, HtmlStore, PageRenderer, key_of

from .page import Tree, patched

PATIENCE = 30.0  # seconds


def fence(number: int, length: int = 1_000) -> str:
    return f"```python\n{number} = '{'x' * 90}'\n" + "x = 1\n" * ((length - 100) // 6) + "```\n\n"


def fences(cost: int, first: int = 0) -> str:
    """Return so many code blocks that their colours cost a little more than this."""
    return "".join(fence(first + number) for number in range(cost // (900 + FENCE_COST) + 2))


def coloured(html: str) -> int:
    return sum("<span" in figure for figure in html.split("<figure")[1:])


@pytest.fixture
def rendered(monkeypatch) -> list[str]:
    texts: list[str] = []

    def parse(text, *args, **kwargs):
        texts.append(text)
        return original(text, *args, **kwargs)

    original = message_html.parse
    monkeypatch.setattr(message_html, "parse", parse)
    return texts


def test_code_beyond_the_message_budget_is_plain_and_whole():
    text = fences(HIGHLIGHT_BUDGET_CHARS)
    blocks = render(text)

    assert 0 < coloured("".join(blocks)) < len(blocks)
    assert coloured(blocks[0])
    assert not coloured(blocks[-1])
    code = "".join(part.partition("```\n")[0] for part in text.split("```python\n")[1:])
    assert "".join(Tree(html).text.removeprefix("python") for html in blocks) == code


@pytest.mark.parametrize("size", [700, 5_000])
@pytest.mark.parametrize(
    "before", ["", "- one\n\n  ```python\n  x = 1\n  ```\n\n", "[a]: http://x.test\n\n[a]\n\n"]
)
def test_a_stream_spends_its_budget_as_a_page_does(size, before):
    text = before + fences(HIGHLIGHT_BUDGET_CHARS)
    blocks, page = Blocks("m"), []
    for start in range(0, len(text), size):
        blocks.feed(text[start : start + size])
        page = patched(page, blocks.flush())

    assert patched(page, blocks.finish()) == render(text, "m")


def test_html_made_plain_by_the_page_budget_is_not_kept():
    store = HtmlStore()
    texts = [fences(HIGHLIGHT_BUDGET_CHARS, first=100 * number) for number in range(4)]

    def view() -> list[int]:
        page = PageRenderer(store)
        return [coloured(page.html(text, "m")) for text in texts]

    whole = coloured("".join(render(texts[0])))
    assert PAGE_BUDGET == 2 * HIGHLIGHT_BUDGET_CHARS
    first = view()
    assert first[:2] == [whole, whole]
    assert sum(first[2:]) <= 2
    assert view() == [whole] * 4


def test_a_message_is_rendered_once_for_every_later_page(rendered):
    store = HtmlStore()
    html = [PageRenderer(store).html("*words*", "m") for _ in range(3)]

    assert html == ["".join(render("*words*", "m"))] * 3
    assert rendered == ["*words*"]
    PageRenderer(store).html("*words* and more", "m")
    PageRenderer(store).html("*words*", "other")
    assert len(rendered) == 3


def test_changing_messages_are_not_cached(rendered):
    store = HtmlStore()
    for _ in range(2):
        PageRenderer(store).html("*words*", "m", final=False)
    assert len(rendered) == 2
    assert store.bytes == 0


def test_a_rendering_in_progress_is_shared():
    store, gate, made = HtmlStore(), threading.Event(), []

    def make() -> tuple[str, bool]:
        made.append(1)
        gate.wait(PATIENCE)
        return "<p>", True

    with ThreadPoolExecutor(20) as pool:
        views = [pool.submit(store.get_or_make, b"key", make) for _ in range(20)]
        gate.set()
        assert [view.result(PATIENCE) for view in views] == ["<p>"] * 20
    assert made == [1]


def test_a_failed_rendering_is_tried_again():
    store = HtmlStore()

    def fail() -> tuple[str, bool]:
        raise ValueError

    with pytest.raises(ValueError):
        store.get_or_make(b"key", fail)
    assert store.get_or_make(b"key", lambda: ("<p>", True)) == "<p>"


def test_store_is_bounded_and_evicts_the_least_recently_used():
    store, noise = HtmlStore(max_bytes=100_000), random.Random(1)

    def put(number: int) -> None:
        html = "".join(chr(noise.randrange(33, 127)) for _ in range(noise.randrange(20_000)))
        store.get_or_make(key_of(str(number), ""), lambda: (html, True))

    for number in range(100):
        put(number)
        store.get_or_make(key_of("0", ""), pytest.fail)  # kept, as the one that was used last
        assert store.bytes <= 100_000
    assert key_of("1", "") not in store._kept
    assert store.bytes == sum(len(packed) + 300 for packed in store._kept.values())


def test_a_message_that_is_larger_than_the_store_is_not_kept():
    store = HtmlStore(max_bytes=1_000)
    html = "".join(chr(random.Random(1).randrange(33, 127)) for _ in range(3_000)) * 1
    assert store.get_or_make(b"key", lambda: (html, True)) == html
    assert store.bytes <= 1_000


def test_a_lone_half_of_a_character_has_a_key_too():
    assert key_of("\ud800", "m") != key_of("\ud801", "m")


def test_blocks_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{PATIENCE}\n\n- a\n- b\n\nc"
    assert message_html.stored_block_count(text) == 3
    monkeypatch.delattr(message_html, "block_count")
    assert message_html.stored_block_count(text) == 3
