"""The elements that are open while a block is written."""

from collections.abc import Callable

from pyromark.event import Range

from . import direction

End = str | Callable[[Range], None]


class Elements:
    """What is written goes to `_out`. `_ends` holds what closes each open element: its end tag, or what is to
    be done then."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._is_ascii = source.isascii()  # asked once: it looks at all of the text
        self._out: list[str] = []
        self._ends: list[End] = []
        self._caught: list[str] | None = None  # the text inside what is written as a whole at its end
        self._auto = ""  # the attribute of elements inside a block
        self._direction = ' dir="ltr"'  # that of a block which is a container

    def _open(self, start: str, end: End) -> None:
        self._out.append(start)
        self._ends.append(end)

    def _release(self, html: str, span: Range) -> None:
        """Write in one piece what was caught."""
        self._caught = None
        self._out.append(html)

    def _begin(self, span: Range) -> None:
        """`dir="auto"` does not look into descendants that have their own: where the markers of a list and
        the columns of a table stand is said at the top, and below only where something can differ."""
        if self._is_ascii:
            return
        text = self._source[span["start"] : span["end"]].decode()
        mixed = direction.is_mixed(text)
        self._auto = ' dir="auto"' if mixed else ""
        self._direction = f' dir="{direction.of(text)}"' if mixed else ' dir="ltr"'

    @property
    def _container(self) -> str:
        """The attribute of a list, a table or a footnote."""
        return self._auto if self._ends else self._direction

    @property
    def _textual(self) -> str:
        """The attribute of a heading or a quotation."""
        return self._auto if self._ends else ' dir="auto"'
