"""The notes, the comments and the controls of a sheet."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError

from .ooxml import Package, Relation
from .sheet_table import column_letters
from .word_runs import CHECKED, UNCHECKED

ROW_PIXELS = 20


def notes_of(package: Package, relations: dict[str, Relation]) -> Iterator[tuple[str, str]]:
    """Return the addresses of cells, and the notes at them."""
    threads = dict[str, list[str]]()
    for relation in relations.values():
        if relation.kind == "threadedComment":
            for comment in package.root(relation.target):
                threads.setdefault(comment.get("ref", ""), []).append(_texts(comment, "text"))
    for reference, texts in threads.items():
        yield reference, f"[comment: {' / '.join(texts)}]"
    for relation in relations.values():
        if relation.kind == "vmlDrawing":
            yield from _controls(package, relation.target)
        elif relation.kind == "comments":
            root = package.root(relation.target)
            authors = [each.text or "" for each in root.iter("x-author")]
            for note in root.iter("x-comment"):
                if note.get("ref") not in threads:  # which older programs see as a note
                    yield note.get("ref", ""), _note(note, authors)


def _controls(package: Package, part: str) -> Iterator[tuple[str, str]]:
    """Return the states and captions of controls at the cells on which they stand."""
    try:
        shapes = package.root(part).iter("v-shape")
    except ParseError:  # Excel writes HTML there
        return
    for shape in shapes:
        data, box = shape.find("ClientData"), shape.find("v-textbox")
        if data is None or (kind := data.get("ObjectType")) == "Note":
            continue
        text = " ".join("".join(box.itertext()).split()) if box is not None else ""
        if kind in ("Checkbox", "Radio"):
            text = f"{CHECKED if data.findtext('Checked') == '1' else UNCHECKED} {text}".strip()
        elif listed := data.findtext("FmlaRange"):
            text = f"[choice {data.findtext('Sel', '0')} of {listed.replace('$', '')}]"
        if text:
            yield _cell(data.findtext("Anchor", "")), text


def _cell(anchor: str) -> str:
    """Return the cell at the left and the middle row of an anchor: column, pixels, row, pixels, twice."""
    places = [int(each) if each.strip().isdigit() else 0 for each in anchor.split(",")]
    column, _, top, above, _, _, bottom, below = places if len(places) == 8 else [0] * 8
    row = (top + bottom + (above + below) / ROW_PIXELS) / 2
    return f"{column_letters(column + 1)}{int(row) + 1}"


def _note(note: Element, authors: list[str]) -> str:
    number, text = note.get("authorId", ""), _texts(note, "x-t")
    author = authors[int(number)] if number.isdigit() and int(number) < len(authors) else ""
    text = text.removeprefix(f"{author}:").strip()
    return f"[note by {author}: {text}]" if author else f"[note: {text}]"


def _texts(element: Element, tag: str) -> str:
    return "".join(each.text or "" for each in element.iter() if each.tag == tag).strip()
