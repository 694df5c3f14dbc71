"""The HTML of the messages of one page, with a limit on their total highlighting cost."""

from collections.abc import Callable
from functools import partial

from .code_blocks import HIGHLIGHT_BUDGET_CHARS, Budget
from .html_store import HtmlStore, key_of
from .markdown import parse

PAGE_BUDGET = 2 * HIGHLIGHT_BUDGET_CHARS  # highlighting budget of all messages that are rendered for one page


class MessageHtml(str):
    """The sanitised HTML of a message, created by PageRenderer only."""

    __slots__ = ()


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

    def html(self, text: str, anchors: str, *, final: bool = True) -> MessageHtml:
        """Return the HTML of a message. `anchors`: see `render`. `final`: the text no longer changes."""
        make = partial(self._make, text, anchors, final=final)
        return MessageHtml(self._store.get_or_make(key_of(text, anchors), make))

    def _make(self, text: str, anchors: str, *, final: bool) -> tuple[str, bool]:
        granted = min(HIGHLIGHT_BUDGET_CHARS, self._left)
        budget = Budget(granted)
        blocks: list[str] = []
        for block in parse(text, anchors, budget=budget):
            blocks.append(block.html)
            self._after_block()
        self._left -= granted - budget.left
        return "".join(blocks), final and not (budget.exceeded and granted < HIGHLIGHT_BUDGET_CHARS)


STORE = HtmlStore()
