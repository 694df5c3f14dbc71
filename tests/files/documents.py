"""Documents made by hand for the tests: PDF, Office, and archives that say less than they hold."""

import io
import struct
import zipfile
from collections.abc import Iterable

TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
WORD_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
WORD_SPACES = (
    f'xmlns:w="{WORD}" xmlns:m="{MATH}" xmlns:r="{OFFICE}" xmlns:a="{DRAWING}" xmlns:wp="{WORD_DRAWING}"'
    f' xmlns:mc="{COMPATIBILITY}" xmlns:v="urn:schemas-microsoft-com:vml"'
)
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def pdf_of(objects: Iterable[bytes], trailer: bytes = b"") -> bytes:
    """A PDF of these objects, numbered from 1; the first is the catalog."""
    body, offsets = b"%PDF-1.7\n", []
    for number, each in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(offsets) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n" % size
    end = b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, len(body))
    return body + head + table + end


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content)


def pdf(*texts: str, catalog: bytes = b"") -> bytes:
    """A PDF with one page for each text, of Latin-1."""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    kids = b" ".join(b"%d 0 R" % (4 + 2 * number) for number in range(len(texts)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalog,
        b"<< /Type /Pages /Kids [%s] /Count %d /MediaBox [0 0 595 842] >>" % (kids, len(texts)),
        font,
    ]
    for number, text in enumerate(texts):
        drawn = b"BT /F 12 Tf 50 700 Td (%s) Tj ET" % text.encode("latin-1") if text else b""
        page = b"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F 3 0 R >> >> /Contents %d 0 R >>"
        objects += [page % (5 + 2 * number), stream(drawn)]
    return pdf_of(objects)


def package(parts: dict[str, bytes | str]) -> bytes:
    """A ZIP archive of these parts."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return target.getvalue()


def relations(*targets: tuple[str, str], links: tuple[str, ...] = ()) -> str:
    """The references of a part: by kind, numbered from r1 on, and addresses outside, from l0 on."""
    each = [
        f'<Relationship Id="r{at}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(targets, 1)
    ] + [
        f'<Relationship Id="l{at}" Type="{OFFICE}/hyperlink" Target="{target}" TargetMode="External"/>'
        for at, target in enumerate(links)
    ]
    return f'<?xml version="1.0"?><Relationships xmlns="{RELATIONS}">{"".join(each)}</Relationships>'


def office(main: str, parts: dict[str, bytes | str]) -> bytes:
    """An Office file that begins with the part `main`."""
    types = f'<?xml version="1.0"?><Types xmlns="{TYPES}"/>'
    return package(
        {"[Content_Types].xml": types, "_rels/.rels": relations(("officeDocument", main)), **parts}
    )


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def docx(*paragraphs: str, doctype: str = "", body: str = "", **more: bytes | str) -> bytes:
    """A text document. `body` is raw XML, `doctype` stands before the root, `more` holds further parts."""
    inside = body or "".join(map(paragraph, paragraphs))
    document = f"<w:document {WORD_SPACES}><w:body>{inside}</w:body></w:document>"
    parts = {name.replace("__", "/"): part for name, part in more.items()}
    return office(
        "word/document.xml", {"word/document.xml": f'<?xml version="1.0"?>{doctype}{document}', **parts}
    )


def docx_with(body: str, links: tuple[str, ...] = (), own: tuple[str, ...] = (), **parts: str) -> bytes:
    """A text document with further parts by kind ("numbering", "header", …), each raw XML with links."""
    roots = {"header": "hdr", "footer": "ftr"}
    more = {
        f"word/{kind}.xml": f"<w:{roots.get(kind, kind)} {WORD_SPACES}>{inside}</w:{roots.get(kind, kind)}>"
        for kind, inside in parts.items()
    } | {f"word/_rels/{kind}.xml.rels": relations(links=own) for kind in parts}
    rels = relations(*((kind, f"{kind}.xml") for kind in parts), links=links)
    return docx(body=body, **{"word/_rels/document.xml.rels": rels, **more})


def _book(sheets: dict[str, tuple[str, str]], about: str = "", **shared: str) -> dict[str, bytes | str]:
    """The parts of a workbook: its sheets by name, each its state and raw XML; those they share by kind."""
    names = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="r{at}" state="{state}"/>'
        for at, (name, (state, _)) in enumerate(sheets.items(), 1)
    )
    targets = [("worksheet", f"sheet{at}.xml") for at in range(1, len(sheets) + 1)]
    return {
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}">{about}<sheets>{names}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": relations(*targets, *((kind, f"{kind}.xml") for kind in shared)),
        **{
            f"xl/{target}": f'<worksheet xmlns="{SHEET}" xmlns:r="{OFFICE}">{inside}</worksheet>'
            for (_, target), (_, inside) in zip(targets, sheets.values(), strict=True)
        },
        **{f"xl/{kind}.xml": inside for kind, inside in shared.items()},
    }


def xlsx(**sheets: list[list[str]]) -> bytes:
    """A workbook, its sheets by name, of rows of texts."""
    made = {}
    for name, rows in sheets.items():
        lines = ("".join(f'<c t="inlineStr"><is><t>{text}</t></is></c>' for text in texts) for texts in rows)
        cells = "".join(f"<row>{line}</row>" for line in lines)
        made[name] = ("visible", f"<sheetData>{cells}</sheetData>")
    return office("xl/workbook.xml", _book(made))


def workbook(
    rows: str,
    formats: tuple[str, ...] = (),
    around: tuple[str, str] = ("", ""),
    book: str = "",
    state: str = "visible",
    parts: dict[str, str] | None = None,
    links: tuple[str, ...] = (),
    shared: dict[str, str] | None = None,
    files: dict[str, str] | None = None,
) -> bytes:
    """A workbook of one sheet, "One", of raw XML. Style 1 is the first of `formats`, and so on.

    `around`: before and behind the rows. `parts`: further parts of the sheet by kind, `shared`: of the book,
    `files`: by their path.
    """
    codes = "".join(f'<numFmt numFmtId="{at}" formatCode="{code}"/>' for at, code in enumerate(formats, 164))
    styles = "".join(f'<xf numFmtId="{164 + at}"/>' for at in range(len(formats)))
    usual = {
        "styles": f'<styleSheet xmlns="{SHEET}"><numFmts>{codes}</numFmts><cellXfs><xf numFmtId="0"/>{styles}'
        "</cellXfs></styleSheet>",
        "sharedStrings": f'<sst xmlns="{SHEET}"><si><t>shared</t></si><si><r><t>ri</t></r><r><t>ch</t></r>'
        "<rPh><t>reading</t></rPh></si></sst>",
    }
    inside = f"{around[0]}<sheetData>{rows}</sheetData>{around[1]}"
    own = parts or {}
    return office(
        "xl/workbook.xml",
        {
            **_book({"One": (state, inside)}, book, **usual, **(shared or {})),
            "xl/_rels/sheet1.xml.rels": relations(*((kind, f"{kind}.xml") for kind in own), links=links),
            **{f"xl/{kind}.xml": each for kind, each in own.items()},
            **(files or {}),
        },
    )


SLIDE_SPACES = (
    f'xmlns:p="{SLIDE}" xmlns:a="{DRAWING}" xmlns:r="{OFFICE}" xmlns:m="{MATH}"'
    f' xmlns:mc="{COMPATIBILITY}"'
    f' xmlns:c="{DRAWING.replace("main", "chart")}"'
    f' xmlns:dgm="{DRAWING.replace("main", "diagram")}"'
    ' xmlns:cx="http://schemas.microsoft.com/office/drawing/2014/chartex"'
    ' xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main"'
)


def _presentation(*slides: str, attributes: str = "") -> dict[str, bytes | str]:
    """The parts of a presentation: slides of these shapes, of raw XML."""
    numbers = range(1, len(slides) + 1)
    ids = "".join(f'<p:sldId id="{255 + number}" r:id="r{number}"/>' for number in numbers)
    targets = [("slide", f"slide{number}.xml") for number in numbers]
    return {
        "ppt/presentation.xml": f"<p:presentation {SLIDE_SPACES}><p:sldIdLst>{ids}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(*targets, ("authors", "authors.xml")),
        **{
            f"ppt/slide{number}.xml": f"<p:sld {SLIDE_SPACES} {attributes}><p:cSld><p:spTree>{shapes}"
            "</p:spTree></p:cSld></p:sld>"
            for number, shapes in zip(numbers, slides, strict=True)
        },
    }


def pptx(*slides: str) -> bytes:
    """A presentation with one text box on each slide."""
    box = (
        '<p:sp><p:nvSpPr><p:cNvPr id="2" name="Box"/><p:cNvSpPr txBox="1"/><p:nvPr/></p:nvSpPr><p:spPr/>'
        "<p:txBody><a:bodyPr/><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:txBody></p:sp>"
    )
    return office("ppt/presentation.xml", _presentation(*(text and box.format(text) for text in slides)))


def slide(shapes: str, attributes: str = "", links: tuple[str, ...] = (), **parts: str) -> bytes:
    """A presentation of one slide with these shapes, of raw XML, and further parts of it by kind."""
    return office(
        "ppt/presentation.xml",
        {
            **_presentation(shapes, attributes=attributes),
            "ppt/_rels/slide1.xml.rels": relations(*((kind, f"{kind}.xml") for kind in parts), links=links),
            **{f"ppt/{kind}.xml": f"<x {SLIDE_SPACES}>{inside}</x>" for kind, inside in parts.items()},
        },
    )


def ole(name: str, stream: bytes, inside: str = "") -> bytes:
    """An OLE container with a stream, and an empty one of a file inside; its sectors have 512 bytes."""
    stream += bytes(-len(stream) % 512)
    count = len(stream) // 512
    chain = [0xFFFFFFFD, 0xFFFFFFFE, *range(3, count + 2), 0xFFFFFFFE]
    table = struct.pack("<128I", *chain, *[0xFFFFFFFF] * (128 - len(chain)))
    folder = b"".join(
        struct.pack("<64sHBBiii36xIIxxxx", each.encode("utf-16-le"), 2 * len(each) + 2, kind, 1, -1, -1, *at)
        for each, kind, *at in (
            ("Root Entry", 5, 1, 0, 0),
            (name, 2, -1, 2, 512 * count),
            (inside, 2, -1, 2, 0),
        )
    )
    head = struct.pack(
        "<8s16xHHHHH10xIIIIIIII", OLE, 0x3E, 3, 0xFFFE, 9, 6, 1, 1, 0, 0, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0
    )
    return head + struct.pack("<109I", 0, *[0xFFFFFFFF] * 108) + table + folder + bytes(128) + stream


def record(kind: int, *parts: bytes) -> bytes:
    """A record of an old workbook, and those that continue it."""
    kinds = (kind, *[0x3C] * (len(parts) - 1))
    return b"".join(
        struct.pack("<HH", each, len(part)) + part for each, part in zip(kinds, parts, strict=True)
    )


def xls(shared: bytes, cells: bytes, state: int = 0, history: int = 0x41, inside: str = "") -> bytes:
    """A workbook of Excel 97 of one sheet, "One". `shared`: records beside those of its start and its end."""
    begin, end = record(0x809, struct.pack("<HH4xI4x", 0x600, 5, history)), record(0x0A, b"")
    place = len(begin) + len(shared) + len(end) + 4 + 11
    sheet = record(0x85, struct.pack("<IBBBB3s", place, state, 0, 3, 0, b"One"))
    return ole("Workbook", begin + shared + sheet + end + begin + cells + end, inside)


def encrypted_office() -> bytes:
    """The start of an OLE container with the stream that Office writes for a document with a password."""
    return OLE + bytes(504) + "EncryptedPackage".encode("utf-16-le") + bytes(512)


def understated(content: bytes, part: str, size: int) -> bytes:
    """The archive with a false uncompressed size of `part`, in both of its headers."""
    changed, name = bytearray(content), part.encode()
    for signature, sizes, names in ((b"PK\x03\x04", 22, 30), (b"PK\x01\x02", 24, 46)):
        at = changed.find(signature)
        while at >= 0:
            if changed[at + names : at + names + len(name)] == name:
                changed[at + sizes : at + sizes + 4] = struct.pack("<I", size)
            at = changed.find(signature, at + 4)
    return bytes(changed)
