"""PDFs with strings at places, fields of forms and annotations, for the tests."""

from collections.abc import Sequence

from chat.files.confined.documents import cleaned
from chat.files.confined.pdf import pdf_pages
from tests.files.documents import pdf_of, stream

String = tuple[float, float, str]  # from the left and the bottom, in points; of Latin-1, as PDF writes it
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
PICTURE = stream(
    b"\x00", b"/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray"
)
WHOLE_PAGE = b"q 595 0 0 842 0 0 cm /I Do Q "
SMALL = b"q 50 0 0 50 0 0 cm /I Do Q "


def drawn(strings: Sequence[String], before: bytes = b"") -> bytes:
    texts = (b"BT /F 10 Tf %g %g Td (%s) Tj ET " % (x, y, text.encode("cp1252")) for x, y, text in strings)
    return before + b"".join(texts)


def page(
    *strings: String,
    annotations: Sequence[str] = (),
    before: bytes = b"",
    entries: str = "",
    more: Sequence[bytes] = (),
    catalog: str = "",
) -> bytes:
    """A PDF of one page. `annotations`: the entries of each. `more`: objects from number 20 on."""
    return pages([(drawn(strings, before), annotations)], entries, more, catalog)


def pages(
    each: Sequence[tuple[bytes, Sequence[str]]],
    entries: str = "",
    more: Sequence[bytes] = (),
    catalog: str = "",
) -> bytes:
    """A PDF of pages, each as its content and its annotations, which are numbered from 30 on."""
    objects = {3: FONT, 4: PICTURE, **dict(enumerate(more, 20))}
    kids: list[int] = []
    all_annotations: list[str] = []
    for position, (content, annotations) in enumerate(each):
        ids = [30 + len(all_annotations) + place for place in range(len(annotations))]
        all_annotations += annotations
        own = 100 + 2 * position
        kids.append(own)
        annots = " ".join(f"{one} 0 R" for one in ids)
        objects[own] = (
            "<< /Type /Page /Parent 2 0 R /Resources << /Font << /F 3 0 R >> /XObject << /I 4 0 R >> >>"
            f" /Contents {own + 1} 0 R /Annots [{annots}] {entries} >>"
        ).encode()
        objects[own + 1] = stream(content)
    objects |= {30 + place: f"<< /Type /Annot {one} >>".encode() for place, one in enumerate(all_annotations)}
    fields = " ".join(f"{30 + place} 0 R" for place, one in enumerate(all_annotations) if "/FT" in one)
    objects[1] = f"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [{fields}] >> {catalog} >>".encode()
    listed = " ".join(f"{kid} 0 R" for kid in kids)
    objects[2] = f"<< /Type /Pages /Kids [{listed}] /Count {len(kids)} /MediaBox [0 0 595 842] >>".encode()
    return pdf_of(objects.get(place, b"null") for place in range(1, max(objects) + 1))


def text_field(rectangle: str, value: str, name: str = "a", more: str = "") -> str:
    return f"/Subtype /Widget /Rect [{rectangle}] /FT /Tx /T ({name}) /V {value} {more}"


def link(rectangle: str, address: str) -> str:
    return f"/Subtype /Link /Rect [{rectangle}] /A << /S /URI /URI ({address}) >>"


def texts(content: bytes) -> list[str]:
    return [cleaned(text) for text in pdf_pages(content, 99)]


def text(
    *strings: String, annotations: Sequence[str] = (), more: Sequence[bytes] = (), entries: str = ""
) -> str:
    (found,) = texts(page(*strings, annotations=annotations, more=more, entries=entries))
    return found
