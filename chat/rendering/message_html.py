"""The HTML of messages: a limit on the highlighting cost of a page, and a cache limited in bytes."""

import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from hashlib import blake2b
from itertools import zip_longest
from typing import Any

from .code_blocks import HIGHLIGHT_BUDGET_CHARS, Budget
from .definitions import LinkDefinitions
from .markdown import block_count, parse
from .questions import question_html

MAX_STORED_HTML_BYTES = 4 * 1024 * 1024  # compressed: HTML shrinks to a tenth and less
ZLIB_LEVEL = 1  # of zlib: compresses a megabyte in about 5 ms
ENTRY_BYTES = 300  # overhead of an entry in addition to its HTML
BREAK = "\0"  # which no rendered text has
PAGE_BUDGET = 2 * HIGHLIGHT_BUDGET_CHARS  # highlighting budget of all messages that are rendered for one page


class HtmlStore:
    """A thread-safe cache that evicts the least recently used entry first.

    Concurrent callers with the same key wait for the first one, so that nothing is rendered twice.
    """

    def __init__(self, max_bytes: int = MAX_STORED_HTML_BYTES) -> None:
        self.max_bytes = max_bytes
        self.bytes = 0
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._being_made: dict[bytes, Future[str]] = {}
        self._lock = threading.Lock()

    def get_or_make(self, key: bytes, make: Callable[[], tuple[str, bool]]) -> str:
        """Return the HTML for this key. If it is missing, `make` returns (HTML, True if it may be kept)."""
        with self._lock:
            packed = self._kept.get(key)
            if packed is not None:
                self._kept.move_to_end(key)
            other = self._being_made.get(key)
            mine: Future[str] = Future()
            if packed is None and other is None:
                self._being_made[key] = mine
        if packed is not None:
            return zlib.decompress(packed).decode()
        return self._made(key, make, mine) if other is None else other.result()

    def _made(self, key: bytes, make: Callable[[], tuple[str, bool]], future: "Future[str]") -> str:
        try:
            html, final = make()
            if final:
                self._keep(key, zlib.compress(html.encode(), ZLIB_LEVEL))
            future.set_result(html)
        except BaseException as error:
            future.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._being_made[key]
        return html

    def _keep(self, key: bytes, packed: bytes) -> None:
        with self._lock:
            self._kept[key] = packed
            self.bytes += len(packed) + ENTRY_BYTES
            while self.bytes > self.max_bytes:
                _, oldest = self._kept.popitem(last=False)
                self.bytes -= len(oldest) + ENTRY_BYTES


def key_of(text: str, anchors: str, sources: int = 0, breaks: tuple[int, ...] = ()) -> bytes:
    """Return a digest of everything that the HTML depends on."""
    whole = f"{anchors} {sources} {breaks or ''}\0{text}"
    return blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class MessageHtml(str):
    """The sanitised HTML of a message, created by PageRenderer, and of a part of it by `block_texts`."""

    __slots__ = ()

    def around(self, steps: Iterable[dict[str, Any]]) -> "Iterable[tuple[MessageHtml | None, Any]]":
        """Return the parts between the breaks, each with the steps that stand behind it."""
        return zip_longest(map(MessageHtml, self.split(BREAK)), (each for each in steps if each["after"]))


class PageRenderer:
    """A renderer for the messages of one page. Messages in the store cost none of its budget.

    Code beyond the page's budget stays plain on this page. That HTML is not stored: the next view of the page
    finds the messages before it in the store, so its budget reaches further.
    """

    def __init__(self, store: HtmlStore | None = None, after_block: Callable[[], None] | None = None) -> None:
        """`after_block` is called after each block that had to be rendered."""
        self._store = STORE if store is None else store
        self._after_block = after_block or (lambda: None)
        self._left = PAGE_BUDGET

    def html(
        self,
        text: str,
        anchors: str,
        sources: int = 0,
        *,
        final: bool = True,
        breaks: tuple[int, ...] = (),
    ) -> MessageHtml:
        """Return the HTML of a message. `anchors`: see `render`. `final`: the text no longer changes.

        `sources`: how many the page lists below it, so that citations lead there. `breaks`: the numbers of
        blocks after which something else stands (`MessageHtml.around`).
        """
        make = partial(self._made, partial(self._reply, text, anchors, sources, breaks), final=final)
        return MessageHtml(self._store.get_or_make(key_of(text, anchors, sources, breaks), make))

    def question(self, text: str) -> MessageHtml:
        """Return the HTML of a question, with its fenced code drawn. Without any it is made at each view."""
        if "```" not in text and "~~~" not in text:
            return MessageHtml(question_html(text))
        make = partial(self._made, partial(question_html, text))
        return MessageHtml(self._store.get_or_make(key_of(text, "typed"), make))

    def _reply(self, text: str, anchors: str, sources: int, breaks: tuple[int, ...], budget: Budget) -> str:
        blocks: list[str] = []
        for count, block in enumerate(parse(text, anchors, LinkDefinitions(sources), budget=budget)):
            blocks.append(BREAK + block.html if count in breaks else block.html)
            self._after_block()
        return "".join(blocks)

    def _made(self, write: Callable[[Budget], str], *, final: bool = True) -> tuple[str, bool]:
        granted = min(HIGHLIGHT_BUDGET_CHARS, self._left)
        budget = Budget(granted)
        html = write(budget)
        self._left -= granted - budget.left
        return html, final and not (budget.exceeded and granted < HIGHLIGHT_BUDGET_CHARS)


STORE = HtmlStore()


def stored_block_count(text: str) -> int:
    """Return the number of blocks of a text that does not change. It is kept: each frame of a step asks."""
    return int(STORE.get_or_make(key_of(text, "blocks"), lambda: (str(block_count(text)), True)))
