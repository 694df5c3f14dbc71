"""The slides of a PowerPoint presentation as Markdown, each with its title or its number."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from .containers import OFF, Package, Relation
from .drawing_text import body_text, graphic_text, table_text
from .word_runs import alternative

AUTHORS = ("authors", "commentAuthors")
TITLES = ("title", "ctrTitle")
AROUND = ("dt", "ftr", "sldNum", "hdr")  # the same on each slide
WITHOUT_BULLETS = ("subTitle", *TITLES)


def slide_pages(content: bytes) -> Iterator[str]:
    package = Package(content)
    part = package.main_part("ppt/presentation.xml")
    relations = package.relations(part)
    authors = {each.get("id", ""): each.get("name", "") for relation in relations.values()
               if relation.kind in AUTHORS for each in package.root(relation.target)}  # fmt: skip
    for number, element in enumerate(package.root(part).iter("p-sldId"), 1):
        relation = relations.get(element.get("r-id", ""))
        if relation is not None:
            yield _slide(package, relation.target, number, authors)


def _slide(package: Package, part: str, number: int, authors: dict[str, str]) -> str:
    root, relations = package.root(part), package.relations(part)
    tree = root.find("p-cSld/p-spTree")
    shapes = list(_shapes(tree)) if tree is not None else []
    title = next((shape for shape in shapes if _placeholder(shape) in TITLES), None)
    name = " ".join(body_text(title, relations).split()) if title is not None else ""
    hidden = " (hidden)" if root.get("show", "1") in OFF else ""
    texts = (_text(package, shape, relations) for shape in shapes if shape is not title)
    parts = (f"## {name or f'Slide {number}'}{hidden}", *texts, *_notes(package, relations, authors))
    return "\n\n".join(filter(None, parts))


def _shapes(tree: Element) -> Iterator[Element]:
    for shape in tree:
        if shape.tag == "mc-AlternateContent":
            yield from _shapes(alternative(shape))
        elif shape.tag == "p-grpSp":
            yield from _shapes(shape)
        elif (
            shape.tag in ("p-sp", "p-pic", "p-graphicFrame")
            and _placeholder(shape) not in AROUND
            and _properties(shape).get("hidden", "0") in OFF
        ):
            yield shape


def _properties(shape: Element) -> Element:
    return next(shape.iter("p-cNvPr"), shape)


def _placeholder(shape: Element) -> str | None:
    """Return the kind of a placeholder; None for other shapes."""
    found = next(shape.iter("p-ph"), None)
    return found.get("type", "obj") if found is not None else None


def _text(package: Package, shape: Element, relations: dict[str, Relation]) -> str:
    if (table := next(shape.iter("a-tbl"), None)) is not None:
        return table_text(table, relations)
    if graphic := graphic_text(package, shape, relations):
        return graphic
    kind = _placeholder(shape)
    text = body_text(
        shape.find("p-txBody"), relations, has_bullets=kind is not None and kind not in WITHOUT_BULLETS
    )
    words = " ".join(_properties(shape).get("descr", "").split())
    if text or not (words or shape.tag == "p-pic" or any(each.tag == "p-oleObj" for each in shape.iter())):
        return text
    return f"[picture: {words}]" if words else "[picture]"


def _notes(package: Package, relations: dict[str, Relation], authors: dict[str, str]) -> Iterator[str]:
    for relation in relations.values():
        if relation.kind == "notesSlide":
            root, links = package.root(relation.target), package.relations(relation.target)
            bodies = (shape for shape in root.iter("p-sp") if _placeholder(shape) == "body")
            text = "\n".join(filter(None, (body_text(shape.find("p-txBody"), links) for shape in bodies)))
            if text:
                yield f"Notes: {text}"
        elif relation.kind == "comments":
            for comment in package.root(relation.target):
                yield from _comment(comment, "comment", authors)


def _comment(comment: Element, kind: str, authors: dict[str, str]) -> Iterator[str]:
    words = comment.findtext("p-text") or body_text(comment.find("txBody"), {})
    author = authors.get(comment.get("authorId", ""))
    if words.strip():
        yield f"[{kind} by {author}: {words.strip()}]" if author else f"[{kind}: {words.strip()}]"
    for reply in comment.iterfind("replyLst/reply"):
        yield from _comment(reply, "reply", authors)
