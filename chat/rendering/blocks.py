"""A growing text as blocks, and what a page must change to keep up with it."""

from bisect import bisect_right
from operator import attrgetter

from .definitions import LinkDefinitions
from .fence import OpenFence
from .highlight import Budget
from .markdown import Block, parse
from .prose import OpenParagraph
from .unfinished import stable_prefix

# (index, html): that block is now this. (index, None, text): its last text, or the code of an open fence,
# goes on with this.
# (index, ""): there is no such block any more.
Patch = tuple[int, str] | tuple[int, None, str]


class Blocks:
    """A growing text as blocks: those that are closed are rendered once, the open tail again and again.

    A block is closed by the first complete line of the next one. All that a later line can change in it is
    what its `[label]`s mean, and that is put right at the end. Not for two threads at once.
    """

    def __init__(self, anchors: str = "") -> None:
        self._anchors = anchors
        self._text = ""
        self._fed: list[str] = []
        self._flushed = 0  # code points
        self._blocks: list[Block] = []
        self._closed = 0
        self._known = LinkDefinitions()
        self._late: list[int] = []  # blocks that a definition after them may have changed
        self._fence: OpenFence | None = None  # the last block, where code is simply added to it
        self._prose: OpenParagraph | None = None  # the last block, where words are

    @property
    def text(self) -> str:
        """All that was fed."""
        if self._fed:
            self._text += "".join(self._fed)
            self._fed.clear()
        return self._text

    @property
    def starts(self) -> list[int]:
        """Where each block begins, in code points of the text."""
        return [block.start for block in self._blocks]

    @property
    def open_length(self) -> int:
        """How much the next flush has to parse, in code points."""
        return len(self.text) - self._end(self._closed)

    def may_highlight(self, *, whole: bool) -> bool:
        """Whether the next flush, or all of a `finish`, may colour code: some lexers take their time."""
        line = self.text.rfind("\n", 0, self._flushed) + 1
        begin = self._end(self._closed) if self._fence is None else line
        text = self.text[0 if whole else begin :]
        return "```" in text or "~~~" in text

    def feed(self, text: str) -> None:
        self._fed.append(text)

    def flush(self) -> list[Patch]:
        """What has changed since the previous flush."""
        if len(self.text) == self._flushed:
            return []
        self._flushed = len(self.text)
        if (added := self._added(self._fence or self._prose)) is not None:
            return added
        patches = self._render(growing=True)
        self._close()
        return patches

    def finish(self) -> list[Patch]:
        """What has changed since the previous flush, now that nothing follows: the blocks are those of
        `render(text)` after this."""
        self._flushed = len(self.text)
        if self._known or "]:" in self.text[self._end(self._closed) :]:
            self._closed, self._known = 0, LinkDefinitions()
            patches = self._render(growing=False)
            self._late = [
                i for i, block in enumerate(self._blocks) if "[" in self.text[block.start : block.end]
            ]
            return patches
        if (added := self._added(self._prose)) is not None:
            return added
        return self._render(growing=False)

    def patches_since(self, position: int) -> list[Patch]:
        """What brings a reader whose page shows `render(text[:position])` to the state of the last flush."""
        return self.patches_page(position, len(self.text))[0]

    def patches_page(self, position: int, size: int) -> tuple[list[Patch], int]:
        """The same for the next `size` code points or a little less or more, and the position that the reader
        has then, from which to go on: where a block begins, or the end."""
        starts = self.starts
        first = self._first_unsure(position)
        before = self.text[self._end(first) : position]
        shown = first + sum(1 for _ in parse(before, budget=Budget(0)))  # they are only counted
        stop = max(bisect_right(starts, position + size) - 1, bisect_right(starts, position))
        whole = stop >= len(starts) or position + size >= self._flushed
        stop = len(starts) if whole else stop
        late = [index for index in self._late if index < first] if whole else []
        patches: list[Patch] = [(index, self._html(index)) for index in [*late, *range(first, stop)]]
        patches += [(index, "") for index in range(shown - 1, stop - 1, -1)]
        return patches, self._flushed if whole else starts[stop]

    def _first_unsure(self, position: int) -> int:
        """The first block that may look otherwise to a reader at this position: the last one that has begun
        there for sure."""
        line = self.text.rfind("\n", 0, position) + 1
        begun = bisect_right(self._blocks, line, key=attrgetter("decided_at"))
        if line == position and begun < len(self._blocks) and self._blocks[begun].start == position:
            begun += 1
        return self._apart(max(0, begun - 1))

    def _apart(self, index: int) -> int:
        """The block, or the last one before it, from which on the text can be parsed by itself."""
        while index and index < len(self._blocks) and not self._blocks[index].parses_alone:
            index -= 1
        return index

    def _html(self, index: int) -> str:
        growing = self._fence or self._prose
        if growing and index == len(self._blocks) - 1:
            return growing.html(self.text)
        return self._blocks[index].html

    def _added(self, growing: OpenFence | OpenParagraph | None) -> list[Patch] | None:
        """The new text as what the last block goes on with; None where that needs to be parsed."""
        added = growing.added(self.text) if growing else None
        if added is None:
            return None
        return [(len(self._blocks) - 1, None, added)] if added else []

    def _end(self, count: int) -> int:
        """Where the first `count` blocks end, in code points."""
        return self._blocks[count - 1].end if count else 0

    def _render(self, *, growing: bool) -> list[Patch]:
        """Put the blocks of the tail in the place of those that were there."""
        first, begin = self._closed, self._end(self._closed)
        before = [self._html(index) for index in range(first, len(self._blocks))]
        whole = self.text[begin:]
        text = stable_prefix(whole) if growing else whole
        last = self._blocks[first - 1] if first else None
        outline, budget = (last.outline, Budget(last.budget)) if last else ((), Budget())
        tail = parse(text, self._anchors, self._known, outline, budget=budget, growing=growing)
        self._blocks[first:] = [block.moved(begin) for block in tail]
        self._fence = self._open_fence()
        self._prose = self._open_prose() if growing and text == whole else None
        after = [self._html(index) for index in range(first, len(self._blocks))]
        changed = [i for i, html in enumerate(after) if before[i : i + 1] != [html]]
        patches: list[Patch] = [(first + i, after[i]) for i in changed]
        return patches + [(first + i, "") for i in range(len(before) - 1, len(after) - 1, -1)]

    def _open_fence(self) -> OpenFence | None:
        last = self._blocks[-1] if self._blocks else None
        if last is None or last.open_fence is None:
            return None
        return OpenFence.at(last.start, self.text, last.open_fence)

    def _open_prose(self) -> OpenParagraph | None:
        last = self._blocks[-1] if self._blocks else None
        return OpenParagraph.at(last.start, self.text, last.html) if last else None

    def _close(self) -> None:
        line = self.text.rfind("\n") + 1
        begin, before = self._end(self._closed), self._closed
        while self._closed + 1 < len(self._blocks) and self._blocks[self._closed + 1].decided_at <= line:
            self._closed += 1
        self._closed = self._apart(self._closed)
        if self._closed > before:
            footnotes = [label for block in self._blocks[before : self._closed] for label in block.footnotes]
            self._known.learn(self.text[begin : self._end(self._closed)], footnotes)
