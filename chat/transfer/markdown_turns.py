"""A turn's Markdown that leaves nothing open for what follows it in one file, nor ends what stands around it.

The file is read by other programs, so that CommonMark and HTML count: fences, comments, elements, equations.
"""

import re
from collections.abc import Iterator

from chat.rendering.code_blocks import is_closed
from chat.rendering.definitions import PARSER
from chat.rendering.equation_scan import end_of_open_equation
from chat.rendering.fences import fences
from chat.rendering.writer import split_event

MAX_OPEN = 300  # elements
MAX_EQUAL = 3  # formatting elements that HTML opens again: “Noah's Ark clause”

_SEPARATOR = " · "  # stands in the heading of each turn
_TAG = re.compile(
    rb"(?P<comment><!--)|<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)"
    rb"(?:[^<>\"']|\"[^\"]*\"|'[^']*')*?(?P<empty>/?)>|(?P<begun><[A-Za-z/!?])"
)
_RUN = re.compile("`{3,}|~{3,}")
# What ends a block of HTML that goes over blank lines: CommonMark, section 4.6, but for “pre”.
_BLOCK_ENDS = (
    (re.compile(rb"<(script|style|textarea)(?=[\s>]|\Z)", re.IGNORECASE), None),
    (re.compile(rb"<!--"), b"-->"),
    (re.compile(rb"<\?"), b"?>"),
    (re.compile(rb"<!\[CDATA\["), b"]]>"),
    (re.compile(rb"<![A-Za-z]"), b">"),
)
# HTML's “active formatting elements”: they outlast the element that they stand in.
_FORMATTING = frozenset(
    {*"abiu", "big", "code", "em", "font", "nobr", "s", "small", "strike", "strong", "tt"}
)
# Tags that GitHub shows as text, because all up to an end tag would be theirs: GFM, section 6.11.
_DISALLOWED = frozenset(
    {"iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp"}
)
# Elements whose content would be what follows; what else looks like a tag may be a type parameter.
_ELEMENT = re.compile(
    "abbr|address|article|aside|audio|blockquote|body|button|canvas|center|cite|del|details|dfn|dialog|"
    "div|dl|dt|dd|fieldset|figcaption|figure|footer|form|frameset|h1|h2|h3|h4|h5|h6|head|header|html|"
    "ins|kbd|label|li|main|map|mark|math|menu|nav|noscript|object|ol|optgroup|option|p|"
    "picture|pre|q|ruby|samp|script|section|select|span|style|sub|sup|summary|svg|table|tbody|td|"
    "template|tfoot|th|thead|tr|ul|var|video|xmp"
)
_CONTAINERS = frozenset({"Item", "BlockQuote", "TableCell", "FootnoteDefinition"})


def closed(text: str) -> str:
    """Return a turn's text with what closes all that it opens, and without an end of what it did not open."""
    text = _lengthened(text)
    for _ in range(3):  # what closes a fence may show the parser what was hidden in it
        reader = _Reader(text.encode())
        reader.read()
        text = reader.text().decode()
        if reader.is_deep:
            return _fenced(text)
        if not reader.edited:
            break
    else:
        return _fenced(text)
    end = end_of_open_equation(text)
    text = f"{text}\n{end}" if end else text
    return text if _leaves_nothing_open(text) else _fenced(text)


def _lengthened(text: str) -> str:
    """Make the fence around other fences longer than these, as readers that know only CommonMark need it."""
    out, done = [], 0
    for fence in fences(text):
        inside = text[fence.code : fence.last]
        runs = [len(run) for run in _RUN.findall(inside)]
        is_open = not fence.is_closed and text[fence.begin - 1 : fence.begin] in ("", "\n")
        if not runs or not (fence.hidden or is_open):
            continue
        marks = text[fence.begin] * (1 + max(runs))
        opening = text[fence.begin : fence.code].lstrip(marks[0])
        last = text[fence.last : fence.end].rstrip(marks[0]) if fence.is_closed else "\n"
        out += [text[done : fence.begin], marks, opening, inside, last, marks]
        done = fence.end
    return "".join([*out, text[done:]])


def _leaves_nothing_open(text: str) -> bool:
    *_, last = PARSER.events(f"{text}\n\n***\n")
    return last == "Rule"


def _fenced(text: str) -> str:
    marks = "`" * (1 + max((len(run) for run in _RUN.findall(text)), default=2))
    return f"{marks}\n{text}\n{marks}"


class _Reader:
    """One pass over a text: what it opens and never closes."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._depth = 0  # of lists and quotations
        self._open: list[tuple[str, int]] = []  # (name, depth) of elements
        self._edits: list[tuple[int, bytes, int]] = []  # (offset, insertion, length of what it replaces)
        self._end = b""

    @property
    def is_deep(self) -> bool:
        """True if more elements are open than anybody means."""
        return len(self._open) >= MAX_OPEN

    @property
    def edited(self) -> bool:
        return bool(self._edits or self._end)

    def text(self) -> bytes:
        out, done = [], 0
        for offset, insertion, length in sorted(self._edits):
            out += [self._source[done:offset], insertion]
            done = offset + length
        return b"".join([*out, self._source[done:], self._end])

    def read(self) -> None:
        for kind, (begin, end) in _events(self._source):
            if kind == "InlineHtml":
                self._tags(begin, end)
            elif kind == "End HtmlBlock":
                self._html_block(begin, end)
            elif kind == "End CodeBlock":
                self._code(begin, end)
            elif kind == "End Heading" and not self._depth:
                self._heading(begin, end)
            elif kind.partition(" ")[2] in _CONTAINERS:
                self._depth += 1 if kind.startswith("Start") else -1
                self._open = [each for each in self._open if each[1] <= self._depth or each[0] in _FORMATTING]
        if self._open and not self._end:
            names = [name for name, _ in reversed(self._open)]
            # HTML forgets all but three equal formatting elements: a paragraph would keep their end tags.
            many = any(names.count(each) > MAX_EQUAL for each in _FORMATTING.intersection(names))
            tags = ("\n" if many else "").join(f"</{name}>" for name in names)
            self._end = f"\n\n{tags}".encode()

    def _tags(self, begin: int, end: int) -> None:
        at, last_comment_ends = begin, self._source.rfind(b"-->", begin, end)
        while match := _TAG.search(self._source, at, end):
            at, name = match.end(), (match["name"] or b"").decode().lower()
            if match["begun"] or name in _DISALLOWED or (match["comment"] and at > last_comment_ends):
                self._edits.append((match.start(), b"&lt;", 1))
            elif match["comment"]:
                at = self._source.index(b"-->", at)
            elif not match["empty"]:
                self._tag(name, match.start(), is_end=bool(match["end"]))

    def _tag(self, name: str, at: int, *, is_end: bool) -> None:
        if not is_end:
            if len(self._open) < MAX_OPEN and (name in _FORMATTING or _ELEMENT.fullmatch(name)):
                self._open.append((name, self._depth))
            return
        places = [place for place, (opened, _) in enumerate(self._open) if opened == name]
        if places:
            inside = self._open[places[-1] + 1 :]
            self._open[places[-1] :] = [each for each in inside if each[0] in _FORMATTING]
        elif name in ("details", "summary"):
            self._edits.append((at, b"&lt;", 1))

    def _html_block(self, begin: int, end: int) -> None:
        html = self._source[begin:end].strip()
        for start, ending in _BLOCK_ENDS:
            if match := start.match(html):
                ending = ending or b"</%s>" % match[1]
                if ending.lower() in html.lower():
                    # HTML ends all but comments and scripts at the first “>”.
                    seen = ending if match.lastindex or ending == b"-->" else b">"
                    at = html.lower().index(seen.lower()) + len(seen)
                    return self._tags(self._source.index(b"<", begin) + at, end)
                if match.lastindex or self._depth:
                    start_tag = self._source.index(b"<", begin)
                    self._edits.append((start_tag, b"&lt;", 1))
                    return self._tags(start_tag + 1, end)
                self._end = b"\n" + ending
                return None
        return self._tags(begin, end)

    def _code(self, begin: int, end: int) -> None:
        fence = self._source[begin:end]
        if fence[:1] not in (b"`", b"~") or is_closed(fence) or self._depth or self._source[end:].strip():
            return
        marks = fence[: len(fence) - len(fence.lstrip(fence[:1]))]
        self._end = (b"" if self._source.endswith(b"\n") else b"\n") + marks

    def _heading(self, begin: int, end: int) -> None:
        """Escape a heading that looks like that of a turn."""
        heading = self._source[begin:end].rstrip()
        if _SEPARATOR.encode() not in heading or len(heading) - len(heading.lstrip(b"#")) > 2:
            return
        at = 0 if heading.startswith(b"#") else heading.rfind(b"\n") + 1
        at += len(heading[at:]) - len(heading[at:].lstrip())
        self._edits.append((begin + at, b"\\", 0))


def _events(source: bytes) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield (name, (begin, end) in bytes) of the parser's events; “Start Item” and “Text” are names."""
    for event, span in PARSER.events_with_range(source.decode(), merge_text=True):
        name, details = split_event(event)
        if name in ("Start", "End"):
            name = f"{name} {split_event(details)[0]}"
        yield name, (span["start"], span["end"])
