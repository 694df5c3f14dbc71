"""The containers of Office: packages of XML parts that refer to each other, and OLE before ([MS-CFB])."""

import io
import posixpath
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import IO
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

# By the last words of a namespace, in which the transitional and the strict form agree.
PREFIXES = {
    "wordprocessingml/main": "w",
    "wordprocessingml/2006/main": "w",
    "officeDocument/math": "m",
    "officeDocument/2006/math": "m",
    "officeDocument/relationships": "r",
    "officeDocument/2006/relationships": "r",
    "drawingml/main": "a",
    "drawingml/2006/main": "a",
    "spreadsheetml/main": "x",
    "spreadsheetml/2006/main": "x",
    "presentationml/main": "p",
    "presentationml/2006/main": "p",
    "markup-compatibility/2006": "mc",
    "drawingml/wordprocessingDrawing": "wp",
    "drawingml/2006/wordprocessingDrawing": "wp",
    "drawingml/2006/chart": "c",
    "drawingml/chart": "c",
    "drawing/2014/chartex": "cx",
    "drawingml/2006/diagram": "dgm",
    "drawingml/diagram": "dgm",
    "word/2010/wordprocessingShape": "wps",
    "schemas-microsoft-com:vml": "v",
    "office/word/2010/wordml": "w14",
}
# What careless programs write into XML, and Office reads: signs that are no mark-up, control characters.
ILL_FORMED = re.compile(
    rb"<(?![A-Za-z_/?!\x80-\xff])|&(?!#?[A-Za-z0-9]{1,31};)|[\x00-\x08\x0b\x0c\x0e-\x1f]|&#(?:x0*[0-8bcef]|x1.|[0-8]);",
    re.IGNORECASE,
)
MENDED = {b"<": b"&lt;", b"&": b"&amp;"}
OFF = ("0", "false", "off", "none")
LAST_SECTOR = 0xFFFFFFFA  # higher numbers are marks: free, end of a chain
ENTRY_BYTES = 128


@dataclass(frozen=True, slots=True)
class Relation:
    """A reference of a part. `kind`: the last word of its type. `target`: a part, or an address outside."""

    kind: str
    target: str


@lru_cache(maxsize=4_096)
def short(name: str) -> str:
    """Return "w-p" for the name of an element with its namespace."""
    namespace, _, local = name.rpartition("}")
    prefix = next((prefix for end, prefix in PREFIXES.items() if namespace.endswith(end)), "")
    return f"{prefix}-{local}" if prefix else local


@lru_cache(maxsize=4_096)
def short_attribute(name: str) -> str:
    """Return the name of an attribute without its namespace, except for those that name a relation."""
    found = short(name)
    return found if found.startswith("r-") else name.rpartition("}")[2]


def target_of(relations: dict[str, Relation], kind: str) -> str:
    return next((each.target for each in relations.values() if each.kind == kind), "")


def value(element: Element | None, default: str = "") -> str:
    return default if element is None else element.get("val", default)


def is_on(element: Element | None) -> bool:
    return element is not None and element.get("val", "1").lower() not in OFF


class Package:
    """An Office file. Raises what `zipfile` and `ElementTree` raise for broken ones."""

    def __init__(self, content: bytes) -> None:
        self._archive = zipfile.ZipFile(io.BytesIO(content))
        self._names = {name.lower().lstrip("/"): name for name in self._archive.namelist()}

    def __contains__(self, part: str) -> bool:
        return part.lower() in self._names

    def content(self, part: str) -> bytes:
        """Return the bytes of a part, none if there is none."""
        return self._archive.read(self._names[part.lower()]) if part in self else b""

    def root(self, part: str) -> Element:
        """Return the root of a part, an empty element if there is none."""
        try:
            return self._last(part)
        except ElementTree.ParseError:
            return self._last(part, is_mended=True)

    def _last(self, part: str, is_mended: bool = False) -> Element:
        last = Element("none")
        for _event, element in self._parsed(part, is_mended):
            last = element
        return last

    def children(self, part: str, parent: str) -> Iterator[Element]:
        """Return the children of the elements of this name, one at a time, which bounds the memory."""
        return self._once(lambda is_mended: self._children(part, parent, is_mended))

    def elements(self, part: str, tags: tuple[str, ...]) -> Iterator[Element]:
        """Return the elements of these names, which do not hold each other, one at a time."""
        return self._once(lambda is_mended: self._elements(part, tags, is_mended))

    @staticmethod
    def _once(read: Callable[[bool], Iterator[Element]]) -> Iterator[Element]:
        """Return what is read of a part, from where it is ill-formed with that mended."""
        done = 0
        try:
            for element in read(False):
                yield element
                done += 1
        except ElementTree.ParseError:
            yield from islice(read(True), done, None)

    def _children(self, part: str, parent: str, is_mended: bool) -> Iterator[Element]:
        opened: list[Element] = []
        for event, element in self._parsed(part, is_mended):
            if event == "start":
                opened.append(element)
                continue
            opened.pop()
            if opened and opened[-1].tag == parent:
                yield element
                opened[-1].remove(element)

    def _elements(self, part: str, tags: tuple[str, ...], is_mended: bool) -> Iterator[Element]:
        for event, element in self._parsed(part, is_mended):
            if event == "end" and element.tag in tags:
                yield element
                element.clear()

    def relations(self, part: str) -> dict[str, Relation]:
        """Return what a part refers to, by id."""
        folder, name = posixpath.split(part)
        root = self.root(f"{folder}/_rels/{name}.rels".lstrip("/"))
        return {each.get("Id", ""): self._relation(each, folder) for each in root}

    def main_part(self, default: str) -> str:
        """Return the part with which the document begins."""
        found = (each.target for each in self.relations("").values() if each.kind == "officeDocument")
        return next((target for target in found if target in self), default)

    def _relation(self, element: Element, folder: str) -> Relation:
        kind, target = element.get("Type", "").rpartition("/")[2], element.get("Target", "")
        if element.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        return Relation(kind, target)

    def _parsed(self, part: str, is_mended: bool = False) -> Iterator[tuple[str, Element]]:
        """Return the starts and ends of elements; the root is last."""
        if part not in self:
            return
        with self._archive.open(self._names[part.lower()]) as file:
            source: IO[bytes] = file
            if is_mended:
                mended = ILL_FORMED.sub(lambda found: MENDED.get(found[0], b""), file.read())
                source = io.BytesIO(mended)
            # Expat loads nothing from outside, and limits what entities grow to.
            for event, element in ElementTree.iterparse(source, ("start", "end")):  # noqa: S314
                if event == "start":
                    element.tag = short(element.tag)
                    for name in [each for each in element.attrib if each[0] == "{"]:
                        element.set(short_attribute(name), element.attrib.pop(name))
                yield event, element


Entry = tuple[str, tuple[int, int], tuple[int, ...]]  # name; start, size; left and right neighbour, child


class Container:
    """An OLE container: its streams by name. Raises `struct.error` and ValueError for broken ones."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        shift, small_shift = struct.unpack_from("<HH", content, 30)
        if shift not in (9, 12) or small_shift != 6:
            raise ValueError("no OLE container")
        self._size, self._small_size = 1 << shift, 1 << small_shift
        (first,) = struct.unpack_from("<I", content, 48)
        self._least, small_table = struct.unpack_from("<II", content, 56)
        self._table = self._numbers(self._table_sectors())
        self._small_table = self._numbers(self._chain(small_table, self._table))
        folder = list(self._read_entries(self._joined(self._chain(first, self._table))))
        own = [folder[number][:2] for number in self._own(folder)]
        self.names = {name for name, _ in own}  # of its own streams and folders
        self._entries = dict([*(each[:2] for each in folder), *own])  # of two of a name, its own
        self._small = self._large(*self._entries["root entry"]) if "root entry" in self._entries else b""

    def stream(self, name: str) -> bytes:
        """Return a stream by its name in lower case; b"" if there is none."""
        if name not in self._entries:
            return b""
        start, size = self._entries[name]
        if size >= self._least:
            return self._large(start, size)
        step = self._small_size
        return b"".join(
            self._small[at * step : (at + 1) * step] for at in self._chain(start, self._small_table)
        )[:size]

    def _joined(self, sectors: Iterator[int]) -> bytes:
        return b"".join(self._content[(at + 1) * self._size : (at + 2) * self._size] for at in sectors)

    def _large(self, start: int, size: int) -> bytes:
        return self._joined(self._chain(start, self._table))[:size]

    def _numbers(self, sectors: Iterator[int]) -> list[int]:
        found = self._joined(sectors)
        return list(struct.unpack(f"<{len(found) // 4}I", found[: len(found) // 4 * 4]))

    def _table_sectors(self) -> Iterator[int]:
        yield from (each for each in struct.unpack_from("<109I", self._content, 76) if each < LAST_SECTOR)
        (number,) = struct.unpack_from("<I", self._content, 68)
        for _ in range(len(self._content) // self._size):
            if number >= LAST_SECTOR:
                return
            *sectors, number = self._numbers(iter([number]))
            yield from (each for each in sectors if each < LAST_SECTOR)

    @staticmethod
    def _chain(number: int, table: list[int]) -> Iterator[int]:
        for _ in range(len(table)):  # a chain in a loop ends
            if number >= len(table):
                return
            yield number
            number = table[number]

    @staticmethod
    def _read_entries(folder: bytes) -> Iterator[Entry]:
        for at in range(0, len(folder) - ENTRY_BYTES + 1, ENTRY_BYTES):
            length, kind = struct.unpack_from("<HB", folder, at + 64)
            name = folder[at : at + min(max(length - 2, 0), 64)].decode("utf-16-le", "replace").lower()
            links = struct.unpack_from("<III", folder, at + 68)
            yield name if kind else "", struct.unpack_from("<II", folder, at + 116), links

    @staticmethod
    def _own(folder: list[Entry]) -> set[int]:
        """Return the numbers of the entries that hang from the child of the root, the first one."""
        found: set[int] = set()
        ahead = [folder[0][2][2]] if folder else []
        while ahead:
            number = ahead.pop()
            if number < len(folder) and number not in found:
                found.add(number)
                ahead += folder[number][2][:2]
        return found
