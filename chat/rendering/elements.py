"""The output and the stack of open elements while a block is written."""

from collections.abc import Callable

from pyromark.event import Range

from . import direction

End = str | Callable[[Range], None]


class Elements:
    """The base of the HTML writers. `_out` collects the HTML.

    `_ends` holds the end of each open element: its end tag, or a function to call with the element's range.
    """

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._is_ascii = source.isascii()  # once, because it scans the whole text
        self._out: list[str] = []
        self._ends: list[End] = []
        self._caught: list[str] | None = None  # the text of an element that is written at its end, if open
        self._auto = ""  # the `dir` attribute of elements inside a block
        self._direction = ' dir="ltr"'  # the `dir` attribute of a block that is a container

    def _open(self, start: str, end: End) -> None:
        self._out.append(start)
        self._ends.append(end)

    def _release(self, html: str, span: Range) -> None:
        """Write an element whose text was caught, and stop catching."""
        self._caught = None
        self._out.append(html)

    def _begin(self, span: Range) -> None:
        """Set the `dir` attributes for a top-level block.

        `dir="auto"` ignores descendants that have a `dir` of their own. Therefore a container gets an
        explicit direction, which decides the side of list markers and the order of table columns. The
        elements in it get `dir="auto"` only if the block contains right-to-left text.
        """
        if self._is_ascii:
            return
        text = self._source[span["start"] : span["end"]].decode()
        mixed = direction.is_mixed(text)
        self._auto = ' dir="auto"' if mixed else ""
        self._direction = f' dir="{direction.of(text)}"' if mixed else ' dir="ltr"'

    @property
    def _container(self) -> str:
        """The `dir` attribute of a list, a table or a footnote."""
        return self._auto if self._ends else self._direction

    @property
    def _textual(self) -> str:
        """The `dir` attribute of a heading or a block quote."""
        return self._auto if self._ends else ' dir="auto"'
