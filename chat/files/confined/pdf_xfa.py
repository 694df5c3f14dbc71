"""Forms in XFA, of whose pages PDFium shows only the request to wait: their words and values."""

import ctypes
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

MAX_BYTES = 20_000_000


def xfa_text(document: Any) -> str:
    """Return the words of such a form in their order, each field with its value; "" for other documents."""
    from pypdfium2 import raw

    if document.get_formtype() != raw.FORMTYPE_XFA_FULL:
        return ""
    try:
        root = ElementTree.fromstring(b"".join(_packets(document)))  # noqa: S314 (Expat limits entities)
    except ElementTree.ParseError:
        return ""
    values: dict[str, list[str]] = {}
    for data in (each for each in root.iter() if _name(each) == "data"):
        for leaf in (each for each in data.iter() if not len(each) and (each.text or "").strip()):
            values.setdefault(_name(leaf), []).append((leaf.text or "").strip())
    lines = [line for each in root if _name(each) == "template" for line in _template(each, values)]
    rest = (f"{name}: {value}" for name, found in values.items() for value in found)
    return "\n".join([*lines, *rest])


def _packets(document: Any) -> Iterator[bytes]:
    from pypdfium2 import raw

    for number in range(raw.FPDF_GetXFAPacketCount(document)):
        size = ctypes.c_ulong()
        raw.FPDF_GetXFAPacketContent(document, number, None, 0, size)
        if 0 < size.value <= MAX_BYTES:
            buffer = ctypes.create_string_buffer(size.value)
            raw.FPDF_GetXFAPacketContent(document, number, buffer, size.value, size)
            yield buffer.raw


def _template(element: Element, values: dict[str, list[str]]) -> Iterator[str]:
    for child in element:
        kind = _name(child)
        if kind == "draw":
            yield from filter(None, [_words(child)])
        elif kind == "field":
            label = " ".join(_words(each) for each in child if _name(each) == "caption")
            found = values.get(child.get("name", ""), [])
            value = found.pop(0) if found else ""
            yield from filter(None, [f"{label}: {value}" if label and value else label or value])
        else:
            yield from _template(child, values)


def _words(element: Element) -> str:
    return " ".join(" ".join(element.itertext()).split())


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]
