"""The characters of PDFs: raised ones, such that no font tells, outside of the page; forms in XFA."""

import pytest

from chat.files.confined.pdf import pdf_pages
from chat.files.confined.problem import UNREADABLE_ONLY
from tests.files.documents import pdf_of, stream
from tests.files.extracting import refused
from tests.files.pdfs import page, text, text_field, texts

SCRIPTS = [
    ("(1.5 x 10) Tj /F 7 Tf 4 Ts (8) Tj 0 Ts /F 10 Tf ( km) Tj", "1.5 x 10⁸ km"),
    ("(10) Tj /F 7 Tf 4 Ts (-3) Tj 0 Ts /F 10 Tf ( g, cm) Tj /F 6 Tf 3 Ts (3) Tj", "10⁻³ g, cm³"),
    ("(of 120) Tj /F 7 Tf 4 Ts (1,2) Tj 0 Ts /F 10 Tf ( euros) Tj", "of 120^(1,2) euros"),
    ("(x) Tj /F 7 Tf 4 Ts (n+1) Tj 0 Ts /F 10 Tf (, H) Tj /F 7 Tf -2 Ts (2) Tj /F 10 Tf 0 Ts (O) Tj",
     "x^(n+1), H₂O"),
    ("(the 1) Tj /F 7 Tf 4 Ts (st) Tj 0 Ts /F 10 Tf ( of 2) Tj", "the 1st of 2"),
    ("(10) Tj /F 1 Tf 7 0 0 7 62 704 Tm (6) Tj /F 10 Tf 1 0 0 1 66 700 Tm ( cells) Tj", "10⁶ cells"),
    ("(rose by 4) Tj /F 7 Tf (2) Tj", "rose by 42"),  # smaller, but on the line
    ("(W) Tj /F 7 Tf (ord 12) Tj", "Word 12"),
    ("/F 24 Tf (O) Tj /F 10 Tf 9 Ts (nce 12 men) Tj", "Once 12 men"),  # a drop capital
    ("(where x) Tj /F 8 Tf -5 Ts (1) Tj 5 Ts (2) Tj /F 10 Tf 0 Ts ( is) Tj", "where x₁² is"),
    ("(SO) Tj /F 8 Tf -3 Ts (4) Tj 5 Ts 1 0 0 1 64.45 700 Tm (2-) Tj /F 10 Tf 0 Ts ( is) Tj", "SO₄²⁻ is"),
    ("(MgCl) Tj /F 8 Tf -5 Ts (2) Tj /F 10 Tf 0 Ts ( \\(37) Tj", "MgCl₂ (37"),
    ("(4) Tj /F 7 Tf 4 Ts 200 0 Td (2) Tj", "4\n2"),  # in another column
]  # fmt: skip


@pytest.mark.parametrize(("strings", "wanted"), SCRIPTS)
def test_a_superscript_is_no_digit_of_the_number(strings: str, wanted: str) -> None:
    (found,) = texts(page(before=b"BT /F 10 Tf 50 700 Td %s ET " % strings.encode()))
    assert found == wanted


NAMELESS = b"<< /Type /Font /Subtype /Type1 /BaseFont /X /Encoding << /Differences [%s] >> >>"
LETTERS = b" ".join(b"%d /g%d" % (code, code) for code in range(1, 127))


@pytest.mark.parametrize(
    ("names", "shown", "wanted"),
    [
        (b"1 /f_f_i", "(o\\001ce) Tj", "o\ufffdce"),
        (LETTERS, "(\\001\\004\\015HX\\012) Tj", "\ufffd" * 6),
        (LETTERS, "(\\016ce has o\\013ers) Tj", "\ufffdce has o\ufffders"),  # TeX's
    ],
)
def test_letters_that_no_font_tells_are_marked(names: bytes, shown: str, wanted: str) -> None:
    string = b"BT /G 10 Tf 50 650 Td %s ET " % shown.encode()
    made = page((50, 700, "The fee is"), before=string, more=[NAMELESS % names])
    assert texts(made.replace(b"/Font << ", b"/Font << /G 20 0 R "))[0].split("\n") == [wanted, "The fee is"]
    added = [text_field("115 645 180 662", "(Ingrid)"), "/Subtype /Text /Contents (why?)"]
    empty = "/Subtype /Widget /Rect [30 648 44 662] /FT /Btn /T (b)"  # a check box
    both = [page(before=string, annotations=each, more=[NAMELESS % LETTERS]) for each in ([empty], added)]
    alone, filled = (each.replace(b"/Font << ", b"/Font << /G 20 0 R ") for each in both)
    if set(wanted) == {"\ufffd"}:
        assert texts(alone) == [UNREADABLE_ONLY]
        assert refused(alone, "a.pdf") == "422 no_text"
        assert texts(filled) == [f"{UNREADABLE_ONLY}\n\nIngrid\n\n[Note: why?]"]


@pytest.mark.parametrize(
    ("box", "wanted"),
    [
        ("/CropBox [0 0 300 842]", "left half\nof it"),
        ("/CropBox [300 0 595 842]", "right half"),
        ("/CropBox [0 695 595 842]", "left half\nright half"),
        ("/CropBox [300 0 595 842] /Rotate 90", "right half"),
        ("/MediaBox [0 0 300 842]", "left half\nof it"),
        ("", "left half\nright half\nof it"),
    ],
)
def test_what_the_page_does_not_show_is_left_out(box: str, wanted: str) -> None:
    strings = [(50, 720, "left half"), (350, 705, "right half"), (50, 680, "of it")]
    assert text(*strings, entries=box) == wanted


# Of a form in XFA, words and values stand in packets of XML, not on the pages.
HEAD = b'<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/">'
TEMPLATE = (
    b'<template xmlns="http://www.xfa.org/schema/xfa-template/3.0/"><subform name="form">'
    b"<draw><value><text>Application</text></value></draw>"
    b'<field name="name"><caption><value><text>Your name</text></value></caption></field>'
    b'<field name="city"><caption><value><exData><p>Your <b>city</b></p></exData></value></caption></field>'
    b'<field name="none"><caption><value><text>Left empty</text></value></caption></field>'
    b"</subform></template>"
)
DATA = (
    b'<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><form>'
    b"<name>Ingrid</name><city>Holmby</city><other>kept</other></form></xfa:data></xfa:datasets>"
)
SHOWN = "Application\nYour name: Ingrid\nYour city: Holmby\nLeft empty\nother: kept"


def form(packets: tuple[bytes, ...], catalog: bytes = b"/NeedsRendering true") -> bytes:
    references = b"".join(b"(%d) %d 0 R " % (at, at) for at in range(5, 5 + len(packets)))
    named = b"5 0 R" if len(packets) == 1 else b"[%s]" % references
    return pdf_of(
        (
            b"<< /Type /Catalog /Pages 2 0 R %s /AcroForm << /Fields [] /XFA %s >> >>" % (catalog, named),
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 595 842] >>",
            b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F << /Type /Font "
            b"/Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
            stream(b"BT /F 12 Tf 50 700 Td (Please wait...) Tj ET"),
            *map(stream, packets),
        )
    )


@pytest.mark.parametrize(
    "packets", [(HEAD + TEMPLATE + DATA + b"</xdp:xdp>",), (HEAD, TEMPLATE, DATA, b"</xdp:xdp>")]
)
def test_a_form_in_xfa_has_its_words_and_values(packets: tuple[bytes, ...]) -> None:
    assert list(pdf_pages(form(packets), 9)) == [f"Please wait...\n\n{SHOWN}"]


@pytest.mark.parametrize(
    ("packets", "catalog"),
    [((b"<no xml",), b"/NeedsRendering true"), ((HEAD + DATA + b"</xdp:xdp>",), b"")],
    ids=["damaged", "drawn on the pages"],
)
def test_other_forms_are_their_pages(packets: tuple[bytes, ...], catalog: bytes) -> None:
    assert list(pdf_pages(form(packets, catalog), 9)) == ["Please wait..."]
