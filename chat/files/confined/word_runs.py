"""The text of a Word paragraph: its runs, links, fields, equations, notes and pictures, as Markdown."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from .containers import Relation, is_on, value
from .fonts import SHIFTED, STRUCK, Piece, joined, sign_of, text_in
from .office_math import tex_of
from .word_fields import field_text
from .word_styles import Styles

DELETED = (
    "w-del",
    "w-moveFrom",
    "w-rt",
    "w-pPr",
    "w-rPr",
    "w-sdtPr",
    "w-delText",
    "w-delInstrText",
    "w-instrText",
)
HYPERLINK = re.compile(r'\s*HYPERLINK\s+(?:"([^"]+)"|(?!\\)([^"\s]+))', re.IGNORECASE)
SIGNS = {
    "w-tab": "\t",
    "w-ptab": "\t",
    "w-cr": "\n",
    "w-br": "\n",
    "w-noBreakHyphen": "-",
    "w-softHyphen": "",
}
TELLING = ("w-t", "a-t", "m-t", "c-chart", "cx-chart", "dgm-relIds")  # of a choice and what stands in for it
CHECKED, UNCHECKED = "☒", "☐"
USUAL_SIZE = "20"  # of characters, in half points
DESCRIBED = ("wp-docPr", "v-shape")
# In this order from outside to inside.
EMPHASIS = {"w-b": "**", "w-i": "*"}


@dataclass(slots=True)
class Notes:
    """The notes that a text points to, in their order: "footnote", "endnote" or "comment", and their ids."""

    found: list[tuple[str, str]] = field(default_factory=list)
    commented: dict[str, str] = field(default_factory=dict)  # words, by the id of the comment

    def mark(self, kind: str, identity: str) -> str:
        """Return what stands at the place of a note."""
        if (kind, identity) not in self.found:
            self.found.append((kind, identity))
        return f"[^{self.name(kind, identity)}]"

    def name(self, kind: str, identity: str) -> str:
        number = [each for each in self.found if each[0] == kind].index((kind, identity)) + 1
        return f"{ {'footnote': '', 'endnote': 'e', 'comment': 'c'}[kind] }{number}"


@dataclass(slots=True)
class _Field:
    """A field that has begun. `is_result`: after its instruction."""

    instruction: str = ""
    is_result: bool = False
    start: int = 0  # of its result among the pieces
    form: str = ""  # what a check box or a list of an old form shows


class Runs:
    """The text of one paragraph. `boxes` takes the text of a text box, `graphics` that of a chart."""

    def __init__(
        self,
        relations: dict[str, Relation],
        styles: Styles,
        notes: Notes,
        boxes: Callable[[Element], str],
        graphics: Callable[[Element], str],
    ) -> None:
        self.relations, self._styles, self._notes = relations, styles, notes
        self._boxes, self._graphics = boxes, graphics
        self._fields: list[_Field] = []
        self._comments: dict[str, int] = {}

    def text(self, paragraph: Element, style: str = "") -> str:
        """Return the text of a paragraph. Fields and comments may go on in the next one."""
        pieces: list[Piece] = []
        self._style = style
        self._fields = [each for each in self._fields if each.is_result]  # others lack their end
        for each in self._fields:
            each.start = 0
        self._comments = dict.fromkeys(self._comments, 0)
        self._children(paragraph, pieces)
        for identity, start in self._comments.items():
            self._comment(identity, pieces[start:])
        return joined(pieces)

    def _children(self, element: Element, pieces: list[Piece]) -> None:
        for child in element:
            self._child(child, pieces)

    def _child(self, child: Element, pieces: list[Piece]) -> None:
        tag = child.tag
        if tag in DELETED:
            return
        if tag == "w-r":
            self._run(child, pieces)
        elif tag == "w-hyperlink":
            start = len(pieces)
            self._children(child, pieces)
            self._link(pieces, start, self._address(child))
        elif tag == "m-oMath":
            pieces.append((f"${tex_of(child)}$", ()))
        elif tag == "m-oMathPara":
            pieces += [(f"\n$${tex_of(each)}$$\n", ()) for each in child.iter("m-oMath")]
        elif tag == "mc-AlternateContent":
            self._children(alternative(child), pieces)
        elif tag == "w-commentRangeStart":
            self._comments[child.get("id", "")] = len(pieces)
        elif tag == "w-commentRangeEnd" and child.get("id", "") in self._comments:
            self._comment(child.get("id", ""), pieces[self._comments.pop(child.get("id", "")) :])
        else:
            self._children(child, pieces)

    def _run(self, run: Element, pieces: list[Piece]) -> None:
        properties = run.find("w-rPr")
        hidden = self._is_on(properties, "w-vanish")
        marks = self._marks(properties)
        font = self._font(properties)
        for child in _shown(run):
            if child.tag == "w-fldChar":
                self._field(child, pieces)
            elif child.tag == "w-instrText" and self._fields and not self._fields[-1].is_result:
                self._fields[-1].instruction += child.text or ""
            elif hidden or any(not each.is_result for each in self._fields):
                continue
            elif child.tag == "w-t":
                pieces.append((text_in(child.text or "", font), marks))
            else:
                self._sign(child, pieces, marks)

    def _sign(self, child: Element, pieces: list[Piece], marks: tuple[str, ...]) -> None:
        tag = child.tag
        if tag in SIGNS:
            pieces.append((SIGNS[tag], ()))
        elif tag == "w-sym":
            code = child.get("char", "")
            pieces.append((sign_of(int(code, 16), child.get("font", "")), marks))
        elif tag == "w-ruby":
            for base in child.findall("w-rubyBase"):
                self._children(base, pieces)
        elif tag in ("w-footnoteReference", "w-endnoteReference", "w-commentReference"):
            kind = tag.removeprefix("w-").removesuffix("Reference")
            pieces.append((self._notes.mark(kind, child.get("id", "")), ()))
        elif tag in ("w-drawing", "w-pict", "w-object"):
            pieces += [(f"\n{text}\n" if boxed else text, ()) for text, boxed in self._pictured(child)]

    def _pictured(self, drawing: Element) -> Iterator[tuple[str, bool]]:
        """Return the texts of a drawing, or what its author says of it, and whether they stand in a box."""
        boxes = [each for each in drawing.iter() if each.tag in ("w-txbxContent", "v-textpath")]
        for box in boxes:
            yield self._boxes(box) if box.tag == "w-txbxContent" else box.get("string", ""), True
        if graphic := self._graphics(drawing):
            yield graphic, True
        said = (each.get("descr") or each.get("alt") for each in drawing.iter() if each.tag in DESCRIBED)
        words = next(filter(None, said), "")
        if words and not (boxes or graphic):
            yield f"[picture: {' '.join(words.split())}]", False
        elif not (boxes or graphic) and any(each.tag in ("a-blip", "v-imagedata") for each in drawing.iter()):
            yield "[picture]", False

    def _field(self, mark: Element, pieces: list[Piece]) -> None:
        kind = mark.get("fldCharType")
        if kind == "begin":
            self._fields.append(_Field(form=_form(mark.find("w-ffData"))))
        elif self._fields and kind == "separate":
            self._fields[-1].is_result, self._fields[-1].start = True, len(pieces)
        elif self._fields and kind == "end":
            ended = self._fields.pop()
            if ended.form and not any(not each.is_result for each in self._fields):
                del pieces[ended.start if ended.is_result else len(pieces) :]
                pieces.append((ended.form, ()))
            elif ended.is_result and (found := HYPERLINK.match(ended.instruction)):
                self._link(pieces, ended.start, (found[1] or found[2]).replace(" ", "%20"))
            elif not ended.is_result and not any(not each.is_result for each in self._fields):
                pieces.append((field_text(ended.instruction), ()))

    def _link(self, pieces: list[Piece], start: int, address: str) -> None:
        words = joined(pieces[start:])
        if (address and words.strip() and "://" in address) or address.startswith("mailto:"):
            bare = address.removeprefix("mailto:")
            pieces[start:] = [(words if words.strip() in (address, bare) else f"[{words}]({address})", ())]

    def _address(self, link: Element) -> str:
        found = self.relations.get(link.get("r-id", ""))
        anchor = link.get("anchor")
        return f"{found.target}#{anchor}" if found and anchor else found.target if found else ""

    def _comment(self, identity: str, pieces: list[Piece]) -> None:
        words = " ".join("".join(text for text, _ in pieces).split())
        self._notes.commented[identity] = f"{self._notes.commented.get(identity, '')} {words}".strip()

    def _properties(self, run: Element | None, tag: str) -> tuple[Element | None, ...]:
        """Return a property that a run has itself, by its style, and by that of its paragraph."""
        own, name = (run.find(tag), value(run.find("w-rStyle"))) if run is not None else (None, "")
        return own, self._styles.character(name, tag), self._styles.character(self._style, tag)

    def _property(self, run: Element | None, tag: str) -> Element | None:
        return next((each for each in self._properties(run, tag) if each is not None), None)

    def _is_on(self, run: Element | None, tag: str) -> bool:
        """Return True if a property is on: what both styles have, they toggle (ECMA-376 part 1, 17.7.3)."""
        own, *styles = self._properties(run, tag)
        return is_on(own) if own is not None else sum(map(is_on, styles)) == 1

    def _marks(self, run: Element | None) -> tuple[str, ...]:
        """Return the marks from outside to inside. Bold words are only those that are so themselves."""
        struck = any(self._is_on(run, tag) for tag in ("w-strike", "w-dstrike"))
        own = [mark for tag, mark in EMPHASIS.items() if run is not None and is_on(run.find(tag))]
        raised = value(self._property(run, "w-vertAlign")) or self._shifted(run)
        return (*([STRUCK] if struck else []), *own, *([raised] if raised in SHIFTED else []))

    def _shifted(self, run: Element | None) -> str:
        """Return how characters are shifted that are smaller than those of their paragraph."""
        place, size = (value(self._property(run, tag)) for tag in ("w-position", "w-sz"))
        usual = value(self._styles.character(self._style, "w-sz"), USUAL_SIZE)
        if place in ("", "0") or not size.isdigit() or int(size) >= int(usual):
            return ""
        return "subscript" if place.startswith("-") else "superscript"

    def _font(self, run: Element | None) -> str:
        fonts = self._property(run, "w-rFonts")
        if fonts is None or fonts.get("asciiTheme"):  # which is none with signs
            return ""
        return fonts.get("ascii") or fonts.get("hAnsi") or ""


def alternative(element: Element) -> Element:
    """Return the first form that says something: programs of today are offered signs that others lack."""
    forms = [each for each in element if each.tag in ("mc-Choice", "mc-Fallback")]
    telling = (form for form in forms if any(each.tag in TELLING for each in form.iter()))
    return next(telling, forms[0] if forms else Element("none"))


def _shown(run: Element) -> Iterator[Element]:
    for child in run:
        yield from alternative(child) if child.tag == "mc-AlternateContent" else [child]


def _form(data: Element | None) -> str:
    """Return what a check box or a list of an old form shows; "" for its other fields."""
    if data is None:
        return ""
    box, listed = data.find("w-checkBox"), data.find("w-ddList")
    if box is not None:
        state = box.find("w-checked")
        return CHECKED if is_on(state if state is not None else box.find("w-default")) else UNCHECKED
    if listed is not None:
        entries = [value(each) for each in listed.findall("w-listEntry")]
        chosen = value(listed.find("w-result"), value(listed.find("w-default"), "0"))
        return entries[int(chosen)] if chosen.isdigit() and int(chosen) < len(entries) else ""
    return ""
