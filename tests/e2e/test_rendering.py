"""Replies as rendered Markdown: the same while they stream and after a reload, and nothing moves."""

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.page_observers import MOVED, SHIFTS
from tests.e2e.sample_texts import essay
from tests.fake_cloudflare.text_scenarios import says_line
from tests.rendering.documents import EXAMPLES
from tests.support.server import Server

# Each block of the last reply as it is in the page, and its height.
SHOWN = """() => [...[...document.querySelectorAll('.reply [data-part=text]')].at(-1).children].map(
  (block) => [block.outerHTML, block.getBoundingClientRect().height],
)"""

EVERYTHING = """# A heading

A paragraph with **bold**, `code`, a [link](https://example.org/), a [late one][late] and a note[^1]
over two lines, <kbd>Ctrl</kbd>, H<sub>2</sub>O and <script>alert(1)</script>.

- one
  - nested
- two

1. loose

2. with code:

   ```sh
   ls -l
   ```

- [x] done
- [ ] open

> quoted
>
> > twice

| a | b |
|:--|--:|
| 1 | 2 |

```python
def f(x: int) -> str:
    return f"{x}"  # a comment
```

    indented code

---

```
never closed, and [late]: again

[late]: https://example.org/late
[^1]: The note, with `code`.
"""
CUT = """Ends in an open list

- a
- b [ref]

[ref]: https://example.org/ref

```js
let x = `
"""
LATE = (
    "See [this] and [that][].\n\nMore text.\n\n[this]: https://a.example/\n[that]: https://b.example/ 'T'\n"
)
PROSE = """Many words of a paragraph, one after the other; nothing else for a while, and an end.

- an item of several words
- **Bold** at first, then words that are plain & long enough

> Said “at length”, with a [link](https://example.org/) before the last words of it.
"""
EMPTY = "\n\n   \n\n"
SPECIFICATION = [markdown for markdown, _ in EXAMPLES]


WIDTHS = pytest.mark.parametrize("chat", [1280, 390], indirect=True)  # where it depends on the layout


def say(chat: ChatPage, text: str, **options: object) -> None:
    chat.ask(f"Go on.\n{says_line(text, **options)}")


def same_after_a_reload(chat: ChatPage) -> list[object]:
    """The blocks that were streamed are those of the page, are as high, and read the same."""
    streamed, read = chat.page.evaluate(SHOWN), chat.reply.aria_snapshot()
    chat.page.reload()
    assert chat.page.evaluate(SHOWN) == streamed
    assert chat.reply.aria_snapshot() == read
    return list(streamed)


@pytest.mark.parametrize(
    ("text", "size", "delay"),
    [
        (EVERYTHING, 3, 0.004),
        (EVERYTHING, 61, 0.04),
        (CUT, 1, 0.01),
        (LATE, 9, 0.05),
        (PROSE, 4, 0.04),
        (EMPTY + "x", 1, 0.01),
        ("\n\n".join(SPECIFICATION[:200]), 40, 0.005),
    ],
    ids=["everything", "in big pieces", "cut", "late", "prose", "empty", "specification"],
)
def test_a_reload_shows_the_streamed_page(chat: ChatPage, text: str, size: int, delay: float) -> None:
    say(chat, text, size=size, delay=delay)
    chat.ended()
    assert same_after_a_reload(chat)


@pytest.mark.parametrize(
    "text",
    [essay(10_000), "\n\n".join(SPECIFICATION[200:420]), "\n\n".join(SPECIFICATION[420:])],
    ids=["essay", "specification 2", "specification 3"],
)
def test_so_does_a_reload_of_a_long_reply(chat: ChatPage, text: str) -> None:
    say(chat, text, size=50, delay=0.005)
    chat.ended()
    assert len(same_after_a_reload(chat)) > 20


def test_a_reload_inside_a_fence_ends_with_the_same_html(chat: ChatPage) -> None:
    say(chat, EVERYTHING, size=2, delay=0.01)
    chat.page.locator(".reply figure.code").last.wait_for()
    chat.page.reload()
    chat.ended()
    assert len(same_after_a_reload(chat)) > 10


def test_a_selection_in_a_finished_block_survives_the_stream(chat: ChatPage) -> None:
    say(
        chat,
        "The first paragraph.\n\n" + "word " * 100 + "\n\n```py\n" + "x = 1\n" * 60 + "```\n",
        size=5,
        delay=0.02,
    )
    first = chat.page.locator(".reply .prose > p").first
    expect(chat.page.locator(".reply .prose > p").nth(1)).to_be_visible()
    first.evaluate("node => getSelection().selectAllChildren(node)")
    chat.ended()
    assert chat.page.evaluate("getSelection().toString().trim()") == "The first paragraph."
    assert chat.page.evaluate("getSelection().anchorNode.isConnected")


@WIDTHS
def test_nothing_moves_at_the_end_of_a_stream_or_on_load(chat: ChatPage) -> None:
    chat.page.evaluate(MOVED)
    say(chat, EVERYTHING, size=len(EVERYTHING) // 4, delay=0.8)
    chat.ended()
    chat.page.wait_for_timeout(300)
    assert chat.page.evaluate("seen.apart")
    assert chat.page.evaluate("movedSince(seen.since)") == 0
    chat.page.reload()
    assert chat.page.evaluate(SHIFTS) <= 0.02


def test_wide_blocks_scroll_inside_a_narrow_page(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=320)
    wide = "| " + " | ".join(f"column {n}" for n in range(20)) + " |\n|" + "--|" * 20 + "\n"
    say(chat, f"{'w' * 400}\n\n{wide}\n```\n{'c' * 400}\n```\n\n# {'h' * 200}\n\n> `{'i' * 300}`")
    chat.ended()
    assert chat.page.evaluate("document.documentElement.scrollWidth") == 320
    for part in ("pre", ".table"):
        assert chat.page.locator(f".prose {part}").evaluate("node => node.scrollWidth > node.clientWidth")


def test_no_text_is_painted_over_another_message(chat: ChatPage) -> None:
    accents = "a" + "\N{COMBINING ACUTE ACCENT}" * 100
    chat.asked(f"A question.\n{says_line(accents)}")
    covered = settled_screenshot(chat.questions.last)
    chat.reply.locator("[data-part=text]").evaluate("(text) => { text.style.visibility = 'hidden'; }")
    assert settled_screenshot(chat.questions.last) == covered


def settled_screenshot(locator: Locator) -> bytes:
    """A screenshot that equals the one before it: what an ended reply changes may come a frame later."""
    last = b""
    while (taken := locator.screenshot()) != last:
        last = taken
    return taken
