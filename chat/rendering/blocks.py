"""A growing text as rendered blocks, and the patches with which a page follows it."""

from bisect import bisect_right
from operator import attrgetter

from .code_blocks import Budget
from .definitions import LinkDefinitions
from .fences import may_nest
from .markdown import Block, block_count, parse
from .maths import MATHS_BUDGET_CHARS
from .open_end import OpenFence, OpenParagraph, stable_prefix

# (index, html): replace the block's HTML, or add the block. (index, None, text): append to the block's last
# text, or to the code of an open fence. (index, ""): remove the block.
Patch = tuple[int, str] | tuple[int, None, str]


class Blocks:
    """A growing text as blocks: closed blocks are rendered once, the open tail again at each flush.

    A block is closed by the first complete line of the next one. A later line can only change the meaning of
    the `[label]`s in a closed block, which `finish` corrects, as well as what fences in HTML make of others.
    `sources`: how many there are to cite. Not thread-safe.
    """

    def __init__(self, anchors: str = "", sources: int = 0) -> None:
        self._anchors = anchors
        self._text = ""
        self._fed: list[str] = []
        self._flushed = 0  # code points
        self._blocks: list[Block] = []
        self._closed = 0  # the number of closed blocks
        self._definitions = LinkDefinitions(sources)
        self._dependent: list[int] = []  # indices of the blocks that a later definition may have changed
        self._fence: OpenFence | None = None  # the last block, if code can be appended without parsing
        self._paragraph: OpenParagraph | None = None  # the same for words

    def set_sources(self, sources: int) -> None:
        """Note how many sources the text can cite from here on."""
        self._definitions.sources = sources

    @property
    def text(self) -> str:
        if self._fed:
            self._text += "".join(self._fed)
            self._fed.clear()
        return self._text

    @property
    def starts(self) -> list[int]:
        """The offsets in the text at which the blocks begin, in code points."""
        return [block.start for block in self._blocks]

    @property
    def open_length(self) -> int:
        """The number of code points that the next flush has to parse."""
        return len(self.text) - self._end(self._closed)

    def may_highlight(self, *, whole: bool) -> bool:
        """Return True if the next flush, or `finish` if `whole`, may highlight code, which can take long."""
        line = self.text.rfind("\n", 0, self._flushed) + 1
        begin = self._end(self._closed) if self._fence is None else line
        text = self.text[0 if whole else begin :]
        return "```" in text or "~~~" in text

    def feed(self, text: str) -> None:
        self._fed.append(text)

    def flush(self) -> list[Patch]:
        """Return the patches since the previous flush."""
        if len(self.text) == self._flushed:
            return []
        self._flushed = len(self.text)
        if (added := self._added(self._fence or self._paragraph)) is not None:
            return added
        patches = self._render(growing=True)
        self._close()
        return patches

    def finish(self) -> list[Patch]:
        """Return the last patches, for the complete text: the blocks are then those of `render(text)`."""
        self._flushed = len(self.text)
        if self._definitions or "]:" in self.text[self._end(self._closed) :] or may_nest(self.text):
            self._closed, self._definitions = 0, LinkDefinitions(self._definitions.sources)
            patches = self._render(growing=False)
            self._dependent = [
                i for i, block in enumerate(self._blocks) if "[" in self.text[block.start : block.end]
            ]
            return patches
        if (added := self._added(self._paragraph)) is not None:
            return added
        return self._render(growing=False)

    def patches_since(self, position: int) -> list[Patch]:
        """Return the patches that bring a page showing `render(text[:position])` up to the last flush."""
        return self.patches_page(position, len(self.text))[0]

    def patches_page(self, position: int, size: int) -> tuple[list[Patch], int]:
        """Return the first of these patches, for about `size` code points, and the position to go on from.

        That position is the beginning of a block or the end of the flushed text.
        """
        starts = self.starts
        first = self._first_unsure(position)
        before = self.text[self._end(first) : position]
        shown = first + block_count(before)
        stop = max(bisect_right(starts, position + size) - 1, bisect_right(starts, position))
        whole = stop >= len(starts) or position + size >= self._flushed
        stop = len(starts) if whole else stop
        dependent = [index for index in self._dependent if index < first] if whole else []
        patches: list[Patch] = [(index, self._html(index)) for index in [*dependent, *range(first, stop)]]
        patches += [(index, "") for index in range(shown - 1, stop - 1, -1)]
        return patches, self._flushed if whole else starts[stop]

    def _first_unsure(self, position: int) -> int:
        """Return the index of the first block that may look different on a page at `position`.

        That is the last block that has certainly begun before `position`.
        """
        line = self.text.rfind("\n", 0, position) + 1
        begun = bisect_right(self._blocks, line, key=attrgetter("decided_at"))
        if line == position and begun < len(self._blocks) and self._blocks[begun].start == position:
            begun += 1
        return self._start_of_parse(max(0, begun - 1))

    def _start_of_parse(self, index: int) -> int:
        """Return the index of the last block up to this one from which the text can be parsed alone."""
        while index and index < len(self._blocks) and not self._blocks[index].parses_alone:
            index -= 1
        return index

    def _html(self, index: int) -> str:
        growing = self._fence or self._paragraph
        if growing and index == len(self._blocks) - 1:
            return growing.html(self.text)
        return self._blocks[index].html

    def _added(self, growing: OpenFence | OpenParagraph | None) -> list[Patch] | None:
        """Return the new text as a patch that appends to the last block; None if it has to be parsed."""
        added = growing.added(self.text) if growing else None
        if added is None:
            return None
        return [(len(self._blocks) - 1, None, added)] if added else []

    def _end(self, count: int) -> int:
        """Return the offset at which the first `count` blocks end, in code points."""
        return self._blocks[count - 1].end if count else 0

    def _render(self, *, growing: bool) -> list[Patch]:
        """Parse the tail, replace its blocks and return the patches."""
        first, begin = self._closed, self._end(self._closed)
        before = [self._html(index) for index in range(first, len(self._blocks))]
        whole = self.text[begin:]
        text = stable_prefix(whole) if growing else whole
        self._blocks[first:] = [block.moved(begin) for block in self._parse_tail(text, growing=growing)]
        self._fence = self._paragraph = None
        if self._blocks:
            last = self._blocks[-1]
            if last.open_fence is not None:
                self._fence = OpenFence.at(last.start, self.text, last.open_fence)
            if growing and text == whole:
                self._paragraph = OpenParagraph.at(last.start, self.text, last.html)
        after = [self._html(index) for index in range(first, len(self._blocks))]
        changed = [i for i, html in enumerate(after) if before[i : i + 1] != [html]]
        patches: list[Patch] = [(first + i, after[i]) for i in changed]
        return patches + [(first + i, "") for i in range(len(before) - 1, len(after) - 1, -1)]

    def _parse_tail(self, text: str, *, growing: bool) -> list[Block]:
        """Parse the text after the closed blocks, with what they leave of the budgets and of the outline."""
        last = self._blocks[self._closed - 1] if self._closed else None
        outline, budget = (last.outline, Budget(last.budget)) if last else ((), Budget())
        maths = last.maths if last else MATHS_BUDGET_CHARS
        definitions = self._definitions
        return list(
            parse(text, self._anchors, definitions, outline, budget=budget, maths=maths, growing=growing)
        )

    def _close(self) -> None:
        """Close the blocks that no further text can change, and learn their definitions."""
        line = self.text.rfind("\n") + 1
        begin, before = self._end(self._closed), self._closed
        while self._closed + 1 < len(self._blocks) and self._blocks[self._closed + 1].decided_at <= line:
            self._closed += 1
        self._closed = self._start_of_parse(self._closed)
        if self._closed > before:
            footnotes = [label for block in self._blocks[before : self._closed] for label in block.footnotes]
            self._definitions.learn(self.text[begin : self._end(self._closed)], footnotes)
