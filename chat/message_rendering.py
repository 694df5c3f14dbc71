"""Rendering of messages for pages: in fair turns, off the event loop and off the database threads."""

import asyncio
import threading
import time
from collections.abc import Hashable, Iterable
from concurrent.futures import Future
from typing import NamedTuple

from chat.rendering.message_html import MessageHtml, PageRenderer

from .db.fair_executor import RENDER_POOL

STRETCH_SECONDS = 0.01  # of CPU time, after which a rendering sleeps
PAUSE_FACTOR = 2  # length of the sleep, in multiples of the CPU time since the last one
SLICE_SECONDS = 0.05  # wall time for which one page renders before the next user's turn


class Text(NamedTuple):
    """A message's Markdown, or the text of a question: there only fenced code is drawn.

    `anchors`: see `rendering.markdown.render`; `final`: the text will not change any more; `sources` and
    `breaks`: see `PageRenderer.html`.
    """

    markdown: str
    anchors: str
    final: bool = True
    typed: bool = False
    sources: int = 0
    breaks: tuple[int, ...] = ()


async def render_page(person: Hashable, texts: Iterable[Text]) -> list[MessageHtml]:
    """Return the HTML of each text, for a page in the turn of `person`, mostly the id of a user."""
    page = _Page(texts)
    while not await asyncio.wrap_future(page.turn(person)):
        pass
    return page.html


def render_page_sync(person: Hashable, texts: Iterable[Text]) -> list[MessageHtml]:
    """Do the same for a synchronous view, blocking its thread."""
    page = _Page(texts)
    while not page.turn(person).result():
        pass
    return page.html


class GiveWay:
    """Callback that makes a long rendering sleep between blocks.

    A thread that computes without a pause takes every second turn of the interpreter lock from all other
    requests; with the sleeps it takes every fourth or fifth.
    """

    def __init__(self) -> None:
        self._thread = self._began = 0.0

    def __call__(self) -> None:
        if self._thread != threading.get_ident():  # `thread_time` is per thread
            self._thread, self._began = threading.get_ident(), time.thread_time()
        worked = time.thread_time() - self._began
        if worked > STRETCH_SECONDS:
            time.sleep(PAUSE_FACTOR * worked)
            self._began = time.thread_time()


class _Page:
    def __init__(self, texts: Iterable[Text]) -> None:
        self._texts = iter(texts)
        self._renderer = PageRenderer(after_block=GiveWay())
        self.html: list[MessageHtml] = []

    def turn(self, person: Hashable) -> "Future[bool]":
        return RENDER_POOL.submit(person, self._go_on)

    def _go_on(self) -> bool:
        """Render for one turn of SLICE_SECONDS. Return True if all texts are done."""
        until = time.monotonic() + SLICE_SECONDS
        for text in self._texts:
            if text.typed:
                self.html.append(self._renderer.question(text.markdown))
            else:
                markdown, anchors, final, _, sources, breaks = text
                rendered = self._renderer.html(markdown, anchors, sources, final=final, breaks=breaks)
                self.html.append(rendered)
            if time.monotonic() > until:
                return False
        return True
