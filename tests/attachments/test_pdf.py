"""The text of PDFs: with values of forms, notes and addresses, in the order in which people read it."""

import random
from collections.abc import Sequence

import pytest

from chat.attachments.confined.documents import cleaned
from chat.attachments.confined.page_notes import PICTURE_BESIDE, PICTURES_ONLY
from chat.attachments.confined.pdf import pdf_pages
from chat.attachments.confined.pdf_columns import gutters
from chat.attachments.confined.pdf_text import Box
from tests.attachments.documents import stream
from tests.attachments.extracting import extracted, refused
from tests.attachments.pdfs import SMALL, WHOLE_PAGE, String, drawn, link, page, pages, text_field

APPEARANCE = stream(b"", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]")


def texts(content: bytes) -> list[str]:
    return [cleaned(text) for text in pdf_pages(content, 99)]


def text(
    *strings: String, annotations: Sequence[str] = (), more: Sequence[bytes] = (), entries: str = ""
) -> str:
    (found,) = texts(page(*strings, annotations=annotations, more=more, entries=entries))
    return found


def button(rectangle: str, more: str, state: str = "Off") -> str:
    """A checkbox or radio button; `state`: that of its appearance, of which the set one is named Yes."""
    shown = f"/AS /{state} /AP << /N << /Yes 20 0 R /Off 20 0 R >> >>" if state else ""
    return f"/Subtype /Widget /Rect [{rectangle}] /FT /Btn {more} {shown}"


def choice(rectangle: str, more: str) -> str:
    return f"/Subtype /Widget /Rect [{rectangle}] /FT /Ch {more}"


NAME, UPPER, LOWER = (50, 700, "Full name"), "150 695 300 712", "150 665 300 682"


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


SENTENCE = "the harvest began late because of a storm that had flooded lower fields and prices rose by half"


def prose(seed: int, count: int = 12, width: int = 40) -> list[str]:
    chance = random.Random(seed)
    words, lines = [chance.choice(SENTENCE.split()) for _ in range(count * 12)], [""]
    for word in words:
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += word + " "
    return [line.strip() for line in lines[:count]]


def columns(*parts: list[str], lower: float = 0, width: float = 260) -> list[list[String]]:
    """Columns of lines side by side, each a little lower than the one before."""
    return [
        [(50 + width * place, 700 - 13 * number - lower * place, line) for number, line in enumerate(lines)]
        for place, lines in enumerate(parts)
    ]


def in_turn(parts: list[list[String]]) -> list[String]:
    return [string for row in zip(*parts, strict=True) for string in row]


@pytest.mark.parametrize("lower", [0, 5])
@pytest.mark.parametrize("seed", range(4))
def test_columns_of_prose_are_read_one_after_another(seed: int, lower: float) -> None:
    parts = [prose(seed), prose(seed + 9)]
    made, wanted = columns(*parts, lower=lower), "\n".join(line for part in parts for line in part)
    title, foot = (
        (180, 760, "A title that stands over both of them"),
        (50, 60, "1 " + "a note below both " * 6),
    )
    assert text(*in_turn(made)) == wanted
    assert text(*made[0], *made[1]) == wanted
    assert text(title, *in_turn(made), foot) == f"{title[2]}\n{wanted}\n{foot[2].strip()}"


@pytest.mark.parametrize("edge", [float("inf"), float("nan"), 1e30])
def test_places_outside_of_any_page_are_no_columns(edge: float) -> None:
    assert gutters([Box(left, 0, right, 9) for left, right in ((0, 9), (30, edge), (-edge, 40)) * 4]) == []


def test_three_columns() -> None:
    parts = [prose(seed, width=28) for seed in (1, 2, 3)]
    assert text(*in_turn(columns(*parts, width=170))) == "\n".join(line for part in parts for line in part)


def test_words_divided_at_the_end_of_a_line() -> None:
    one, two = prose(1), prose(2)
    one[3:5] = ["the council of the town had refu-", "sed the loan that the farmers had asked"]
    assert "had refused the loan" in text(*in_turn(columns(one, two)))
    assert text(
        (50, 700, "a hyphen-"), (50, 687, "ation, self-"), (50, 674, "Made COVID-"), (50, 661, "19")
    ) == ("a hyphenation, self-Made COVID-19")


@pytest.mark.parametrize("size", [6, 7])
def test_a_superscript_ends_no_line(size: int) -> None:
    raised = b"(the area is x) Tj /F %d Tf 4 Ts (2) Tj 0 Ts /F 10 Tf ( + y and more) Tj" % size
    (found,) = texts(page((50, 686, "of it"), before=b"BT /F 10 Tf 50 700 Td %s ET " % raised))
    assert found == "the area is x2 + y and more\nof it"


def rows(*cells: Sequence[str]) -> list[list[String]]:
    return columns(*map(list, zip(*cells, strict=True)), width=150)


NUMBERS = [
    ("Item", "Count", "Price"),
    ("Rope", "4", "3.50 €"),
    ("Nails", "120", "0.02 €"),
    ("Saw", "1", "19 €"),
]
PAIRS = [("Name:", "Ingrid"), ("Place:", "Bergen harbour"), ("Since:", "May"), ("Team:", "North")]
LISTS = [("Ann Berg", "Per Lund"), ("Old Street", "New Street"), ("Oslo", "Bergen"), ("Norway", "Sweden")]


def test_a_table_is_read_by_rows() -> None:
    for table in (NUMBERS, PAIRS):
        made = rows(*table)
        by_row, by_column = in_turn(made), [cell for column in made for cell in column]
        assert text(*by_row).split() == text(*by_column).split() == " ".join(map(" ".join, table)).split()


def test_rows_that_begin_with_one_character_are_rows() -> None:
    table = [("No", "Item", "Price"), ("1", "Rye bread", "4.80"), ("2", "Cake", "19"), ("a", "Milk", "1.20")]
    assert text(*in_turn(rows(*table))).split("\n") == list(map("\t".join, table))


TIMETABLE = [
    ("", "Mon", "Tue", "Wed"),
    ("8:00", "Music", "Art", "Sports"),
    ("9:00", "Art", "", "Music"),
    ("10:00", "", "Sports", "Art"),
    ("11:00", "Biology", "Music", ""),
]


def cells_of(table: list[tuple[str, ...]], top: float) -> list[String]:
    return [
        (50 + 100 * at, top - 15 * row, cell)
        for row, cells in enumerate(table)
        for at, cell in enumerate(cells)
        if cell
    ]


def test_a_table_between_prose_keeps_its_empty_cells() -> None:
    above, below = prose(3, 14, 90), prose(5, 14, 90)
    made = [(50, 740 - 13 * at, line) for at, line in enumerate(above)]
    made += cells_of(TIMETABLE, 540) + [(50, 440 - 13 * at, line) for at, line in enumerate(below)]
    made += cells_of(TIMETABLE[1:], 200)
    wanted = ["\t".join(row).rstrip() for row in TIMETABLE]
    assert text(*made).split("\n") == [*above, *wanted, "", *below, *wanted[1:]]


def test_empty_cells_of_a_table_keep_their_places() -> None:
    made, wanted = cells_of(TIMETABLE, 700), ["\t".join(row).rstrip() for row in TIMETABLE]
    assert text(*made).split("\n") == wanted
    assert text(*sorted(made, key=lambda string: string[0])).split("\n") == wanted


def test_blocks_side_by_side_stay_as_they_are_drawn() -> None:
    made = rows(*LISTS)
    wanted = [cell for column in zip(*LISTS, strict=True) for cell in column]
    assert text(*(cell for column in made for cell in column)).split("\n") == wanted
    assert text(*in_turn(made)).split("\n") == list(map(" ".join, LISTS))


def test_rows_of_prose_are_not_torn_apart() -> None:
    made, wanted, height = [], [], 700
    for seed in range(5):
        for left in (50, 310):
            cell = prose(seed + left, count=4)
            made += [(left, height - 13 * number, line) for number, line in enumerate(cell)]
            wanted += cell
        height -= 80
    assert text(*made).split("\n") == wanted


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_rotated_pages_are_read_as_their_text_stands(rotation: int, turn: int) -> None:
    parts = [prose(1), prose(2)]
    turned = {
        0: b"",
        90: b"0 1 -1 0 700 0 cm ",
        180: b"-1 0 0 -1 600 800 cm ",
        270: b"0 -1 1 0 0 800 cm ",
    }
    content = turned[turn] + drawn(in_turn(columns(*parts)))
    (found,) = texts(pages([(content, ())], entries=f"/Rotate {rotation} /MediaBox [0 0 900 900]"))
    assert found.split("\n") == [line for part in parts for line in part]


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_lines_of_a_page_turned_by_mistake(rotation: int) -> None:
    lines = prose(3, 4, 90)
    made = [(50, 740 - 13 * at, line) for at, line in enumerate(lines)] + cells_of(TIMETABLE, 600)
    wanted = ["\t".join(row).rstrip() for row in TIMETABLE]
    assert text(*made, entries=f"/Rotate {rotation}").split("\n") == [*lines, *wanted]


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
        ("/OFF [21 0 R]", b"/OC /B BDC 1 0 0 1 0 2000 cm %s 1 0 0 1 0 -2000 cm EMC", "on\noff\nout"),
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
