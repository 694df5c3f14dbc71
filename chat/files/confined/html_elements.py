"""The elements of HTML as text: what a browser shows of each, in Markdown where it has a form for it."""

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urljoin

from .fonts import SHIFTED
from .html_blocks import EDGE, collapsed, joined, kept, list_items, prefixed, restored, table_text, tidy
from .html_visibility import has_style, is_hidden, parsed, tag_of
from .mathml import between_dollars, equation

MAX_DEPTH = 100  # below it, elements are read without their form
MAX_ADDRESS_CHARACTERS = 1_000
INLINE = re.compile(
    "a|abbr|acronym|b|bdi|bdo|big|button|cite|code|data|dfn|em|font|i|ins|kbd|label|mark|meter|output|"
    "progress|ruby|rb|samp|small|span|strong|sub|sup|textPath|time|tspan|tt|u|var|wbr|"
    r"mjx-[\w-]+"
)
PARAGRAPHS = re.compile("p|table|ul|ol|dl|blockquote|pre|figure|form|fieldset|address|details")
SCRIPTS = {"sup": (SHIFTED["superscript"], "^"), "sub": (SHIFTED["subscript"], "_")}
DIGITS = re.compile(r"[+−-]?[0-9]+[+−-]?|n")
# Of an exponent, an index or notes, not “st”.
OPERATION = re.compile(r"\w*[-+−=*/·(]\w[\w+−=*/·()-]*|\w|[0-9].*")
KEEPING = re.compile(r"(?:^|;)\s*white-space\s*:\s*(?:pre|break-spaces)", re.IGNORECASE)
UNWRITTEN = re.compile(r"[\t\r\n]")  # of an address, as https://url.spec.whatwg.org/ has it
NO_ADDRESS = re.compile(r"#|javascript:|data:|blob:|about:|vbscript:", re.IGNORECASE)
CONTACT = re.compile(r"(?:mailto|tel|sms):([^?]*)", re.IGNORECASE)
SCHEME = re.compile(r"https?://(?:www\.)?", re.IGNORECASE)
MEDIA = {"video": "Video", "audio": "Audio", "iframe": "Frame", "frame": "Frame", "embed": "Object"}
LANGUAGE = re.compile(r"(?:^|\s)lang(?:uage)?-([\w+#.-]{1,30})")


Frames = dict[str, tuple[str, str]]


class Body:
    """The text of elements. Their blocks are separated by line feeds, see `html_blocks.py`.

    `address`: the page's own. `frames`: by address, other pages and their own addresses.
    """

    def __init__(self, address: str = "", frames: Frames | None = None) -> None:
        self._address, self._frames = address, frames or {}
        self._depth = 0
        self.is_kept = False  # inside of `<pre>`

    def text_of(self, node: Any) -> str:
        tag = tag_of(node)
        if tag == "-text":
            text = node.text_content or ""
            return kept(text) if self.is_kept else collapsed(text)
        if tag.startswith("-") or is_hidden(node):
            return ""
        if tag in ELEMENTS:
            return ELEMENTS[tag](self, node)
        edge = "" if not tag or INLINE.fullmatch(tag) else "\n\n" if PARAGRAPHS.fullmatch(tag) else EDGE
        return f"{edge}{self.inside(node)}{edge}"

    def inside(self, node: Any) -> str:
        if self._depth >= MAX_DEPTH:
            return flat(node)
        before = self._depth, self.is_kept
        self._depth += 1
        self.is_kept |= bool(KEEPING.search(attribute(node, "style")))
        try:
            text = "".join(map(self.text_of, node.iter(include_text=True)))
            return styled(text, node)
        finally:
            self._depth, self.is_kept = before

    def _heading(self, node: Any) -> str:
        text = joined(self.inside(node))
        return f"\n\n{'#' * int(node.tag[1])} {text}\n\n" if text else "\n\n"

    def _pre(self, node: Any) -> str:
        before, self.is_kept = self.is_kept, True
        text = restored(self.inside(node)).strip("\n")
        self.is_kept = before
        if not text.strip():
            return "\n\n"
        named = LANGUAGE.search(" ".join(each.attributes.get("class") or "" for each in (node, *node.iter())))
        return f"\n\n{kept(fenced(text, named[1] if named else ''))}\n\n"

    def _blockquote(self, node: Any) -> str:
        text = tidy(self.inside(node))
        return f"\n\n{prefixed(text, '> ', '> ')}\n\n" if text else "\n\n"

    def _list(self, node: Any) -> str:
        edge = EDGE if node.parent is not None and node.parent.tag in ("li", "ul", "ol") else "\n\n"
        return edge + "\n".join(list_items(node, self)) + edge

    def _dd(self, node: Any) -> str:
        text = tidy(self.inside(node))
        return f"{EDGE}{prefixed(text, ': ', '  ')}{EDGE}" if text else EDGE

    def address_of(self, node: Any) -> str:
        address = UNWRITTEN.sub("", attribute(node, "href")).strip().replace(" ", "%20")
        if not address or NO_ADDRESS.match(address):
            return ""
        contact = CONTACT.match(address)
        if contact:
            return contact[1].replace("%20", " ")
        with contextlib.suppress(ValueError):  # brackets of an IPv6 address that are no such
            address = urljoin(self._address, address)
        return address if len(address) <= MAX_ADDRESS_CHARACTERS else ""

    def _svg(self, node: Any) -> str:
        named = attribute(node, "aria-label")
        if not named:
            title = next((each for each in node.iter() if each.tag == "title"), None)
            named = title.text() if title is not None else ""
        return picture(named) + self.inside(node)

    def _media(self, node: Any) -> str:
        if page := self._framed(node):
            inside, address = page
            body = Body(address, self._frames)
            body._depth = self._depth
            return f"\n\n{body.text_of(parsed(inside).root)}\n\n"
        source = next((each for each in node.iter() if each.tag == "source"), node)
        named = [node.attributes.get(name) for name in ("title", "aria-label")] + [
            source.attributes.get("src")
        ]
        name = joined(next(filter(None, named), ""))
        is_shown = name and not NO_ADDRESS.match(name)
        return f"{EDGE}[{MEDIA[node.tag]}: {name[:MAX_ADDRESS_CHARACTERS]}]{EDGE}" if is_shown else EDGE

    def _framed(self, node: Any) -> tuple[str, str] | None:
        """Return the page inside a frame, and its address; each of them once, since they may hold another."""
        if inside := node.attributes.get("srcdoc"):
            return inside, self._address
        source = node.attributes.get("src")
        with contextlib.suppress(ValueError):
            return self._frames.pop(urljoin(self._address, source), None) if source else None
        return None

    def _input(self, node: Any) -> str:
        kind, value = attribute(node, "type").lower(), attribute(node, "value")
        if kind in ("checkbox", "radio"):
            return " [x] " if "checked" in node.attributes else " [ ] "
        if kind == "image":
            return ELEMENTS["img"](self, node)
        return "" if kind in ("hidden", "password", "file") else f" {collapsed(value)} "

    def _select(self, node: Any) -> str:
        options = [each for each in node.css("option") if not is_hidden(each)]
        chosen = [each for each in options if "selected" in each.attributes]
        if not chosen and "multiple" not in node.attributes:
            chosen = options[:1]
        texts = (joined(each.text()) or joined(each.attributes.get("label") or "") for each in chosen)
        return f" {', '.join(filter(None, texts))} "

    def _gauge(self, node: Any) -> str:
        value, most = attribute(node, "value"), node.attributes.get("max") or "1"
        return joined(self.inside(node)) or (f"{value}/{most}" if value else "")


ELEMENTS: dict[str, Callable[[Body, Any], str]] = {
    "br": lambda body, _node: kept("\n") if body.is_kept else "\n",
    "hr": lambda _body, _node: "\n\n---\n\n",
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), Body._heading),
    "pre": Body._pre,
    "textarea": lambda _body, node: f"{EDGE}{kept(node.text())}{EDGE}",
    "blockquote": Body._blockquote,
    **dict.fromkeys(("ul", "ol", "menu"), Body._list),
    "dd": Body._dd,
    "table": lambda body, node: table_text(node, body),
    "a": lambda body, node: with_address(body.inside(node), body.address_of(node)),
    "area": lambda body, node: with_address(joined(attribute(node, "alt")), body.address_of(node)) + EDGE,
    "img": lambda _body, node: picture(attribute(node, "alt") or attribute(node, "title")),
    "svg": Body._svg,
    **dict.fromkeys(MEDIA, Body._media),
    "input": Body._input,
    "select": Body._select,
    **dict.fromkeys(("meter", "progress"), Body._gauge),
    "rt": lambda body, node: f"({text})" if (text := joined(body.inside(node))) else "",
    **dict.fromkeys(SCRIPTS, lambda body, node: script(joined(body.inside(node)), *SCRIPTS[node.tag])),
    **dict.fromkeys(("del", "s", "strike"), lambda body, node: struck(body.inside(node))),
    "q": lambda body, node: f"“{body.inside(node).strip(' ')}”",
    "math": lambda _body, node: kept(equation(node)),
    "script": lambda _body, node: kept(
        between_dollars(node.text(), "mode=display" in attribute(node, "type"))
    ),
}


def attribute(node: Any, name: str) -> str:
    return node.attributes.get(name) or ""


def flat(node: Any) -> str:
    """Return the text of a tree of any depth, without the form of its elements."""
    return " ".join(collapsed(each.text_content or "") for each in _shown_texts(node))


def _shown_texts(node: Any) -> Iterator[Any]:
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each.tag == "-text":
            yield each
        elif not tag_of(each).startswith("-") and not is_hidden(each):
            waiting += reversed(list(each.iter(include_text=True)))


def fenced(text: str, language: str = "") -> str:
    """Return a block of code, within a fence that is longer than any in it."""
    longest = max(map(len, re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def with_address(text: str, address: str) -> str:
    """Return the text of a link, and its address unless it is the text."""
    words = text.rstrip(" \n" + EDGE)
    if not address or SCHEME.sub("", address).rstrip("/") == SCHEME.sub("", words.strip()).rstrip("/"):
        return text
    return f"{words} ({address}){text[len(words) :]}" if words.strip() else text


def styled(text: str, node: Any) -> str:
    """Return the text of an element, struck out, raised or lowered by a style."""
    tag = tag_of(node)
    for name, (characters, mark) in SCRIPTS.items():
        if INLINE.fullmatch(tag) and tag not in SCRIPTS and has_style(node, f"data-{name}"):
            words = text.strip(" ")
            text = text.replace(words, script(words, characters, mark)) if words else text
    return struck(text) if has_style(node, "data-struck") else text


def struck(text: str) -> str:
    words = text.strip(" ")
    is_marked = words and not re.search(f"[\n{EDGE}]|^~~", words)
    return text.replace(words, f"~~{words}~~") if is_marked else text


def picture(description: str) -> str:
    description = joined(description)
    return f"[Picture: {description}]" if description else ""


def script(text: str, characters: dict[int, int], mark: str) -> str:
    """Return a superscript or a subscript: digits as such, an exponent or an index with a mark."""
    if {*map(ord, text)} <= {*characters.values()}:  # by the element inside
        return text
    if DIGITS.fullmatch(text):
        return text.translate(characters)
    if mark == "_" and text:
        return f"_{text}" if text.isalnum() else f"_({text})"
    return f"^{text if len(text) == 1 else f'({text})'}" if OPERATION.fullmatch(text) else text
