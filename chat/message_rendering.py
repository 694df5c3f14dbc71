"""Messages rendered for pages, off the event loop and off the database's threads, in turns that are fair."""

import asyncio
import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future
from typing import NamedTuple

from chat.rendering.message_html import MessageHtml, PageRenderer

from .fair_executor import RENDER_POOL

STRETCH_SECONDS = 0.01  # of processor time, after which a rendering gives way
PAUSES = 2  # times as long as it has worked
SLICE_SECONDS = 0.05  # that one page renders at a stretch, before it is the turn of somebody else's


class Text(NamedTuple):
    """A message's Markdown. `anchors`: see `render`; `final`: it does not change any more."""

    markdown: str
    anchors: str
    final: bool = True


async def render_page(person: int, texts: Iterable[Text]) -> list[MessageHtml]:
    """The HTML of each text, for a page of this person's."""
    page = _Page(texts)
    while not await asyncio.wrap_future(page.turn(person)):
        pass
    return page.html


def render_page_sync(person: int, texts: Iterable[Text]) -> list[MessageHtml]:
    """The same for a view that has a thread of its own, which waits meanwhile."""
    page = _Page(texts)
    while not page.turn(person).result():
        pass
    return page.html


class GiveWay:
    """Sleeps now and then in a rendering that takes long. A thread that computes without a pause takes every
    second turn of the interpreter from all other requests; this way it is every fourth or fifth."""

    def __init__(self) -> None:
        self._thread = self._began = 0.0

    def __call__(self) -> None:
        if self._thread != threading.get_ident():  # each thread has a clock of its own
            self._thread, self._began = threading.get_ident(), time.thread_time()
        worked = time.thread_time() - self._began
        if worked > STRETCH_SECONDS:
            time.sleep(PAUSES * worked)
            self._began = time.thread_time()


class _Page:
    def __init__(self, texts: Iterable[Text]) -> None:
        self._texts = iter(texts)
        self._renderer = PageRenderer(after_block=GiveWay())
        self.html: list[MessageHtml] = []

    def turn(self, person: int) -> "Future[bool]":
        return RENDER_POOL.submit(person, self._go_on)

    def _go_on(self) -> bool:
        """Render for one turn. Returns whether all is done."""
        until = time.monotonic() + SLICE_SECONDS
        for text in self._texts:
            self.html.append(self._renderer.html(text.markdown, text.anchors, final=text.final))
            if time.monotonic() > until:
                return False
        return True
