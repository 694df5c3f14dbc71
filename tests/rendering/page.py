"""A page for the tests: what is in its HTML, what is allowed there, and patches put on it."""

import re
from collections.abc import Sequence
from html import escape
from html.parser import HTMLParser
from urllib.parse import urlsplit

from chat.rendering.blocks import Blocks, Patch
from chat.rendering.html_tags import FORMATTING_TAGS
from chat.rendering.markdown import render

VOID = {"br", "hr"}
TAGS = {
    *FORMATTING_TAGS,
    *("details", "summary"),
    *(
        "p",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "li",
        "blockquote",
        "hr",
        "br",
        "em",
        "strong",
        "del",
        "code",
        "pre",
    ),
    *(
        "figure",
        "figcaption",
        "span",
        "a",
        "sup",
        "sub",
        "kbd",
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    ),
}
# MathML Core. Elements whose content a browser parses in another way than the sanitiser are not among them.
MATHS = {
    *(
        "math",
        "semantics",
        "annotation",
        "mrow",
        "mi",
        "mn",
        "mo",
        "mtext",
        "mspace",
        "mfrac",
        "msqrt",
        "mroot",
    ),
    *("msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts"),
    *("mtable", "mtr", "mtd", "mpadded", "mphantom"),
}
MATHS_ATTRIBUTES = {
    *("display", "encoding", "displaystyle", "scriptlevel", "mathvariant", "form", "stretchy", "symmetric"),
    *("fence", "separator", "largeop", "movablelimits", "lspace", "rspace", "minsize", "maxsize", "width"),
    *("height", "depth", "voffset", "linethickness", "accent", "accentunder", "class"),
}
ATTRIBUTES = {"class", "dir", "href", "rel", "target", "title", "id", "start", "open"}
SCROLLING = {(tag, "tabindex", "0") for tag in ("pre", "div", "span")}  # reached by keyboard
LAST_TEXT = re.compile(r"(?:</[a-z]+>)+\Z")  # behind it only elements end


class Tree(HTMLParser):
    """Counts roots and reports whatever could act: unknown tags and attributes, and links that lead elsewhere
    than to http, https, mailto or a footnote."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.roots = 0
        self.faults: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()
        self.faults += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.roots += not self.open
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag not in TAGS | MATHS:
            self.faults.append(f"<{tag}>")
        for name, value in attrs:
            if (tag, name, value) in SCROLLING or (tag in MATHS and name in MATHS_ATTRIBUTES):
                continue
            if name not in ATTRIBUTES or (name == "href" and not _is_followed(value or "")):
                self.faults.append(f"<{tag} {name}={value!r}>")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.roots += not self.open
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.faults.append(f"<!--{data}-->")

    handle_decl = handle_pi = unknown_decl = handle_comment


def _is_followed(address: str) -> bool:
    return address.startswith("#fn-") or urlsplit(address).scheme in ("http", "https", "mailto")


def faults(blocks: Sequence[str]) -> list[str]:
    """Return forbidden HTML in the blocks, and blocks that are not exactly one element."""
    found = []
    for html in blocks:
        tree = Tree(html)
        found += tree.faults
        if tree.roots != 1:
            found.append(f"{tree.roots} roots: {html}")
    return found


def patched(blocks: Sequence[str], patches: Sequence[Patch]) -> list[str]:
    """The blocks as a page shows them after the patches."""
    page = list(blocks)
    for patch in patches:
        index = patch[0]
        if len(patch) == 3:
            added = escape(patch[2], quote=False).replace("\xa0", "&nbsp;")
            end = LAST_TEXT.search(page[index])
            assert end
            page[index] = page[index][: end.start()] + added + end[0]
        elif patch[1]:
            page[index : index + 1] = [patch[1]]
        else:
            assert index == len(page) - 1, "blocks vanish from the end on"
            page.pop()
    return page


def flushed(text: str, cuts: list[int]) -> tuple[Blocks, list[str]]:
    """Return the blocks, and the page of a reader who has watched from the beginning."""
    blocks, page, done = Blocks("m"), [], 0
    for cut in cuts:
        blocks.feed(text[done:cut])
        done = cut
        page = patched(page, blocks.flush())
    return blocks, page


def streamed(text: str, cuts: list[int]) -> list[str]:
    """Return the page of that reader once the text is finished."""
    blocks, page = flushed(text, cuts)
    page = patched(page, blocks.finish())
    assert blocks.text == text
    assert blocks.flush() == []
    return page


def resumed(text: str, cuts: list[int], positions: list[int]) -> list[list[str]]:
    """Return the pages of readers who had the text up to a position, and come back once it is finished."""
    blocks, _ = flushed(text, cuts)
    blocks.finish()
    return [patched(render(text[:position], "m"), blocks.patches_since(position)) for position in positions]
