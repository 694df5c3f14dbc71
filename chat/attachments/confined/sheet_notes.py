"""The notes, the comments and the text boxes of a sheet."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from .ooxml import Package, Relation


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
        if relation.kind == "comments":
            root = package.root(relation.target)
            authors = [each.text or "" for each in root.iter("x-author")]
            for note in root.iter("x-comment"):
                if note.get("ref") not in threads:  # which older programs see as a note
                    yield note.get("ref", ""), _note(note, authors)


def _note(note: Element, authors: list[str]) -> str:
    number, text = note.get("authorId", ""), _texts(note, "x-t")
    author = authors[int(number)] if number.isdigit() and int(number) < len(authors) else ""
    text = text.removeprefix(f"{author}:").strip()
    return f"[note by {author}: {text}]" if author else f"[note: {text}]"


def _texts(element: Element, tag: str) -> str:
    return "".join(each.text or "" for each in element.iter() if each.tag == tag).strip()
