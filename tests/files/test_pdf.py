"""The text of PDFs: with values of forms, notes and addresses, without layers that are hidden."""

import pytest

from chat.files.confined.problem import PICTURE_BESIDE, PICTURES_ONLY
from tests.files.documents import stream
from tests.files.extracting import extracted, refused
from tests.files.pdfs import SMALL, WHOLE_PAGE, String, drawn, link, page, pages, text, text_field, texts

APPEARANCE = stream(b"", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]")


def button(rectangle: str, more: str, state: str = "Off") -> str:
    """A checkbox or radio button; `state`: that of its appearance, of which the set one is named Yes."""
    shown = f"/AS /{state} /AP << /N << /Yes 20 0 R /Off 20 0 R >> >>" if state else ""
    return f"/Subtype /Widget /Rect [{rectangle}] /FT /Btn {more} {shown}"


def choice(rectangle: str, more: str) -> str:
    return f"/Subtype /Widget /Rect [{rectangle}] /FT /Ch {more}"


NAME, UPPER = (50, 700, "Full name"), "150 695 300 712"


@pytest.mark.parametrize(
    ("strings", "field", "wanted"),
    [
        ([NAME], text_field(UPPER, "(Ingrid)"), "Full name: Ingrid"),
        ([(50, 700, "City:")], text_field(UPPER, "<FEFF4F60597D>"), "City: 你好"),
        ([NAME], text_field(UPPER, "()"), "Full name"),
        ([NAME], text_field("50 675 300 694", "(Ingrid)"), "Full name: Ingrid"),  # below its label
        (
            [NAME],
            text_field("50 100 300 120", "(Ingrid)", "a.b[0]", "/TU (Holder)"),
            "Full name\n\n[Holder: Ingrid]",
        ),
        ([NAME], text_field("50 100 300 120", "(Ingrid)", "holder"), "Full name\n\n[holder: Ingrid]"),
        ([NAME], text_field(UPPER, "(a\\rb)", more="/Ff 4096"), "Full name: a\nb"),
        ([NAME], text_field(UPPER, "(no)", more="/F 2"), "Full name"),  # hidden
        ([NAME], text_field(UPPER, "(no)", more="/Ff 8192"), "Full name"),  # a password
        (
            [NAME],
            choice(UPPER, "/Ff 131072 /T (a) /V (no) /Opt [[(no) (Norway)] [(se) (Sweden)]]"),
            "Full name: Norway",
        ),
        ([NAME], choice(UPPER, "/Ff 393216 /T (a) /V (own) /Opt [(x)]"), "Full name: own"),
        ([NAME], choice(UPPER, "/Ff 2097152 /T (a) /V [(x) (z)] /Opt [(x) (y) (z)]"), "Full name: x, z"),
        ([NAME], f"/Subtype /Widget /Rect [{UPPER}] /FT /Sig /T (a) /V 20 0 R", "Full name: signed"),
        ([NAME], button("30 698 44 712", "/T (a) /V /Yes", "Yes"), "[x] Full name"),
        ([NAME], button("30 698 44 712", "/T (a) /V /Off"), "[ ] Full name"),
        ([NAME], button("110 698 124 712", "/T (a) /V /Yes", "Yes"), "Full name [x]"),
        ([NAME], button("30 698 44 712", "/T (a) /V /Yes", ""), "[x] Full name"),  # without an appearance
        ([NAME], button("30 698 44 712", "/T (a)", ""), "[ ] Full name"),
        ([NAME], button("30 98 44 112", "/T (member) /V /Yes", "Yes"), "Full name\n\n[member: [x]]"),
        ([NAME], button(UPPER, "/Ff 65536 /T (push)"), "Full name"),
    ],
)
def test_a_field_is_shown_with_its_label(strings: list[String], field: str, wanted: str) -> None:
    assert text(*strings, annotations=[field], more=[APPEARANCE]) == wanted


def test_the_fields_of_a_row_and_radio_buttons() -> None:
    row = [text_field("150 695 200 712", "(a)", "1"), text_field("210 695 300 712", "(b)", "2")]
    assert text(NAME, annotations=row) == "Full name: a; b"
    boxed = [text_field("50 680 190 722", "(Berg)", "1"), text_field("200 680 400 722", "(Ann)", "2")]
    assert text((55, 712, "Surname"), (205, 712, "Name"), annotations=boxed) == "Surname: Berg Name: Ann"
    blank = text((50, 700, "I, ______, agree"), annotations=[text_field("60 698 80 712", "(Ann)")])
    assert blank == "I, ______ Ann, agree"
    kid = f"/Subtype /Widget /Rect [{UPPER}] /FT /Tx /Parent 20 0 R"
    parent = b"<< /FT /Tx /T (n) /V (of its parent) /Kids [30 0 R] >>"
    assert text(NAME, annotations=[kid], more=[parent]) == "Full name: of its parent"
    kids = [
        "/Subtype /Widget /Rect [30 698 44 712] /FT /Btn /Ff 49152 /Parent 20 0 R /AS /card"
        " /AP << /N << /card 21 0 R /Off 21 0 R >> >>",
        "/Subtype /Widget /Rect [30 668 44 682] /Parent 20 0 R /AS /Off"
        " /AP << /N << /cash 21 0 R /Off 21 0 R >> >>",
    ]
    group = b"<< /FT /Btn /Ff 49152 /T (pay) /V /card /Kids [30 0 R 31 0 R] >>"
    found = text((50, 700, "Card"), (50, 670, "Cash"), annotations=kids, more=[group, APPEARANCE])
    assert found == "[x] Card\n[ ] Cash"


QUAD = "/QuadPoints [50 710 69 710 50 698 69 698] /Rect [50 698 100 710]"
FILE = "/FS << /Type /Filespec /F (b.csv) /UF (b.csv) /EF << /F 20 0 R >> >>"


@pytest.mark.parametrize(
    ("annotation", "note"),
    [
        ("/Subtype /FreeText /Contents (the deadline moved)", "[Typed: the deadline moved]"),
        ("/Subtype /FreeText /RC (<body><p>Rich <b>text</b></p></body>)", "[Typed: Rich text]"),
        ("/Subtype /Text /Contents (Check)", "[Note: Check]"),
        ("/Subtype /Text /T (Ann) /Contents <FEFF4F60>", "[Note by Ann: 你]"),
        (f"/Subtype /Highlight {QUAD} /Contents (why?)", "[Highlighted: “Full”, why?]"),
        (f"/Subtype /Highlight {QUAD} /Contents (Full)", "[Highlighted: “Full”]"),
        (f"/Subtype /StrikeOut {QUAD}", "[Struck out: “Full”]"),
        ("/Subtype /Underline /Rect [50 698 100 710]", "[Underlined: “Full name”]"),
        ("/Subtype /Stamp /Name /Approved", "[Stamp: Approved]"),
        ("/Subtype /Stamp /Name /X /Contents (Paid)", "[Stamp: Paid]"),
        ("/Subtype /Square /Contents (here)", "[Note: here]"),
        ("/Subtype /Caret /Contents (insert)", "[Note: insert]"),
        (f"/Subtype /FileAttachment {FILE}", "[Attached file: b.csv]"),
        ("/Subtype /Popup /Contents (no)", ""),
        ("/Subtype /Text /F 2 /Contents (no)", ""),
        ("/Subtype /Text", ""),
        ("/Subtype /Ink", ""),
    ],
)
def test_what_people_add_is_read(annotation: str, note: str) -> None:
    found = text(NAME, annotations=[annotation], more=[stream(b"x", b"/Type /EmbeddedFile")])
    assert found == f"Full name\n\n{note}".rstrip()


def test_attached_files_are_named() -> None:
    names = (
        "/Names << /EmbeddedFiles << /Names [(b.csv) << /F (b.csv) /UF (b.csv) /EF << /F 20 0 R >> >>] >> >>"
    )
    content = page(NAME, more=[stream(b"x", b"/Type /EmbeddedFile")], catalog=names)
    assert texts(content) == ["Full name\n\n[Attached file: b.csv]"]


BOOK = (50, 700, "Book here today")


@pytest.mark.parametrize(
    ("links", "wanted"),
    [
        ([("74 698 95 710", "https://e.org/b?id=9")], "Book here (https://e.org/b?id=9) today\nand there"),
        ([("74 698 88 710", "https://e.org/b")], "Book here (https://e.org/b) today\nand there"),
        ([("70 698 106 710", "https://e.org/b")], "Book here (https://e.org/b) today\nand there"),
        ([("92 698 95 710", "https://e.org/b")], "Book here (https://e.org/b) today\nand there"),
        (
            [("96 698 130 710", "https://e.org/b"), ("50 684 95 696", "https://e.org/b")],
            "Book here today\nand there (https://e.org/b)",
        ),
        ([("74 698 95 710", "mailto:a@e.org")], "Book here (a@e.org) today\nand there"),
        ([("74 698 95 710", "javascript:x")], "Book here today\nand there"),
        ([("300 300 310 310", "https://e.org/p")], "Book here today\nand there\n\n[Link: https://e.org/p]"),
    ],
)
def test_a_link_is_read_with_its_address(links: list[tuple[str, str]], wanted: str) -> None:
    assert text(BOOK, (50, 686, "and there"), annotations=[link(*each) for each in links]) == wanted


def test_a_link_over_characters_without_spaces() -> None:
    font = b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /UniGB-UCS2-H /DescendantFonts [21 0 R] >>"
    kid = (
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /X /CIDSystemInfo"
        b" << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> /DW 1000 >>"
    )
    content = page(annotations=[link("60 698 80 712", "https://e.org/b")], more=[font, kid]).replace(
        b"/F 3 0 R", b"/F 20 0 R"
    )
    words = "请看这里的说明".encode("utf-16-be").hex().encode()
    made = content.replace(
        b"stream\n\nendstream", b"stream\nBT /F 10 Tf 50 700 Td <%s> Tj ET\nendstream" % words
    )
    assert texts(made) == ["请看这 (https://e.org/b)里的说明"]


def test_an_address_is_not_repeated() -> None:
    assert (
        text((50, 700, "www.e.org/x"), annotations=[link("50 698 130 710", "https://www.e.org/x")])
        == "www.e.org/x"
    )


def test_pages_of_pictures_are_named() -> None:
    caption, words = drawn([(50, 700, "Page 2")]), drawn([(50, 700, "word " * 20)])
    contents = [words, WHOLE_PAGE, b"", WHOLE_PAGE + caption, SMALL + caption, WHOLE_PAGE + words]
    contents += [b"".join(b"%d 0 m 5 5 l S " % place for place in range(20)), b"0 0 m 5 5 l S"]
    sentence = ("word " * 20).strip()
    found = texts(pages([(content, ()) for content in contents]))
    assert found == [
        sentence, PICTURES_ONLY, "", f"Page 2\n\n{PICTURE_BESIDE}", "Page 2", sentence, PICTURES_ONLY, "",
    ]  # fmt: skip
    assert refused(pages([(WHOLE_PAGE, ()), (b"", ())]), "scan.pdf") == "422 no_text"
    assert extracted(pages([(WHOLE_PAGE, ()), (words, ())]), "a.pdf").pages == (PICTURES_ONLY, sentence)


GROUPS = [b"<< /Type /OCG /Name (A) >>", b"<< /Type /OCG /Name (B) >>"]
MEMBER = b"<< /Type /OCMD /OCGs [20 0 R 21 0 R] /P /AllOn >>"


@pytest.mark.parametrize(
    ("state", "layer", "wanted"),
    [
        ("/OFF [21 0 R]", b"", "on\noff\nout"),
        ("/OFF [21 0 R]", b"/OC /B BDC %s EMC", "on\nout"),
        ("/OFF [20 0 R]", b"/OC /B BDC %s EMC", "off\nout"),
        ("/BaseState /OFF /ON [20 0 R]", b"/OC /B BDC %s EMC", "on\nout"),
        ("/OFF [21 0 R]", b"/OC /C BDC %s EMC", "on\nout"),
        ("", b"/OC /B BDC 1 1 1 rg %s 0 0 0 rg EMC", "on\noff\nout"),
        ("/OFF [21 0 R]", b"/OC /B BDC 3 Tr %s 0 Tr EMC", "on\noff\nout"),
        ("/OFF [21 0 R]", b"/OC /B BDC 1 0 0 1 0 2000 cm %s 1 0 0 1 0 -2000 cm EMC", "on\nout"),
        ("/OFF [21 0 R]", b"/OC /B BDC /Span <</MCID 0>> BDC %s EMC EMC", "on\nout"),
    ],
)
def test_text_of_hidden_layers_is_left_out(state: str, layer: bytes, wanted: str) -> None:
    own = drawn([(50, 650, "off")])
    content = b"/OC /A BDC %s EMC " % drawn([(50, 700, "on")]) + (layer % own if layer else own)
    catalog = f"/OCProperties << /OCGs [20 0 R 21 0 R] /D << {state} >> >>"
    made = pages([(content + b" " + drawn([(50, 600, "out")]), ())], more=[*GROUPS, MEMBER], catalog=catalog)
    named = b"/Properties << /A 20 0 R /B 21 0 R /C 22 0 R >> /XObject"
    assert texts(made.replace(b"/XObject", named)) == [wanted]


def test_text_of_hidden_layers_is_left_out_in_the_child() -> None:
    content = b"/OC /B BDC %s EMC %s" % (drawn([(50, 700, "off")]), drawn([(50, 600, "out")]))
    catalog = "/OCProperties << /OCGs [20 0 R 21 0 R] /D << /OFF [21 0 R] >> >>"
    made = pages([(content, ())], more=GROUPS, catalog=catalog)
    named = made.replace(b"/XObject", b"/Properties << /B 21 0 R >> /XObject")
    assert extracted(named, "a.pdf").pages == ("out",)


def test_invisible_text_of_a_scan_is_kept() -> None:
    (found,) = texts(pages([(WHOLE_PAGE + b"3 Tr " + drawn([(50, 700, "Recognized words of a scan")]), ())]))
    assert found == f"Recognized words of a scan\n\n{PICTURE_BESIDE}"
