"""The order in which the text of a PDF is read: columns, tables with their empty cells, turned pages."""

import random
from collections.abc import Sequence

import pytest
from pypdfium2 import PdfDocument

from chat.files.confined.pdf_columns import _arranged, gutters
from chat.files.confined.pdf_pieces import Piece, pieces
from chat.files.confined.pdf_text import Box, PageText
from tests.files.documents import stream
from tests.files.pdfs import FONT, String, drawn, page, pages, text, texts

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
    title = (180, 760, "A title that stands over both of them")
    foot = (50, 60, "1 " + "a note below both " * 6)
    assert text(*in_turn(made)) == wanted
    assert text(*made[0], *made[1]) == wanted
    assert text(title, *in_turn(made), foot) == f"{title[2]}\n{wanted}\n{foot[2].strip()}"


@pytest.mark.parametrize("edge", [float("inf"), float("nan"), 1e30])
def test_places_outside_of_any_page_are_no_columns(edge: float) -> None:
    assert gutters([Box(left, 0, right, 9) for left, right in ((0, 9), (30, edge), (-edge, 40)) * 4]) == []


def test_what_stands_between_two_that_cross_is_read_once() -> None:
    boxes = [Box(50, 100, 300, 200), Box(50, 140, 300, 190), Box(50, 155, 100, 165)]
    made = [Piece(range(at, at + 1), box, "x") for at, box in enumerate(boxes)]
    assert _arranged(made, [150.0])[0].count(made[2]) == 1


def test_three_columns() -> None:
    parts = [prose(seed, width=28) for seed in (1, 2, 3)]
    assert text(*in_turn(columns(*parts, width=170))) == "\n".join(line for part in parts for line in part)


def test_words_divided_at_the_end_of_a_line() -> None:
    one, two = prose(1), prose(2)
    one[3:5] = ["the council of the town had refu-", "sed the loan that the farmers had asked"]
    assert "had refused the loan" in text(*in_turn(columns(one, two)))
    assert text(
        (50, 700, "a hyphen-"),
        (50, 687, "ation, self-"),
        (50, 674, "Made COVID-"),
        (50, 661, "19, e-"),
        (50, 648, "mail"),
    ) == ("a hyphenation, self-Made COVID-19, e-mail")


@pytest.mark.parametrize("size", [6, 7])
def test_a_superscript_ends_no_line(size: int) -> None:
    raised = b"(the area is x) Tj /F %d Tf 4 Ts (2) Tj 0 Ts /F 10 Tf ( + y and more) Tj" % size
    (found,) = texts(page((50, 686, "of it"), before=b"BT /F 10 Tf 50 700 Td %s ET " % raised))
    assert found == "the area is x² + y and more\nof it"


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


def drawn_cells(table: list[str], places: Sequence[float], by_cells: bool = False) -> list[String]:
    """Cells of rows, set apart by bars; each ends at its place if that is negative. `~`: on a further line.

    By lines from the top, or `by_cells`: all lines of a cell before the next one.
    """
    made, top = [], 700.0
    for row in table:
        cells = [cell.strip().split("~") for cell in row.split("|")]
        lines = [
            (-place - 5 * len(line) if place < 0 else place, top - 12 * at, line)
            for cell, place in zip(cells, places, strict=True)
            for at, line in enumerate(cell)
            if line
        ]
        made += lines if by_cells else sorted(lines, key=lambda string: (-string[1], string[0]))
        top -= 12 * max(map(len, cells)) + 6
    return made


STATEMENT = ["Date | Details | Out | In | Balance"] + [
    f"{day:02} May | {'Salary' if day % 7 == 4 else 'Bookshop'} | {money} | {946 - day}.71"
    for day in range(1, 15)
    for money in ["| 82.66" if day % 7 == 4 else "65.61 |"]
]
ONE_MARK = ["| | x |", "| x | |", "| | | x"]
SPARSE = [
    (STATEMENT, (50, 110, -370, -445, -530)),
    (STATEMENT[1:], (50, 110, -370, -445, -530)),  # the next page of it
    (["Name | yes | no | maybe"] + [f"Ann Berg {mark}" for mark in ONE_MARK * 3], (50, 205, 265, 325)),
    (["| always | mostly | seldom"] + [f"Helps others {mark}" for mark in ONE_MARK], (50, 250, 320, 390)),
    (["Fare | Weekend | Weekday", "Child | 12.00 |", "Adult | | 9.50", "All | 60.00 | 8"], (50, -250, -350)),
    (["| Mon | Tue | Wed", "1 | | Art | PE", "2 | | | Art", "3 | PE | | Art"], (50, 120, 190, 260)),
    (["Day | Early | Late | Off"] + [f"{day}.6. {mark}" for day, mark in enumerate(ONE_MARK, 1)],
     (50, 120, 200, 280)),
    (["Room | Low~rate | High~rate", "Single | 45 | 60", "Double | | 99", "Suite | 180 |"], (50, 150, 220)),
    (["Date | Details | Out | In | Balance",
      "02 May | Debit~Water Board~Ref 44 | 31.20 | | 968.80",
      "03 May | Salary~Brandt Ltd | | 1,900.00 | 2,868.80",
      "06 May | Transfer~rent May | 650.00 | | 2,218.80"], (50, 110, -370, -445, -530)),
]  # fmt: skip


@pytest.mark.parametrize(("table", "places"), SPARSE, ids=range(len(SPARSE)))
@pytest.mark.parametrize("by_cells", [False, True])
def test_cells_stand_under_their_heads(table: list[str], places: Sequence[float], by_cells: bool) -> None:
    split = [[cell.strip().split("~") for cell in row.split("|")] for row in table]
    wanted = [
        "\t".join("".join(cell[line : line + 1]) for cell in cells).rstrip()
        for cells in split
        for line in range(max(map(len, cells)))
    ]
    note = (50.0, 90.0, "Payable within fourteen days, without any deduction, to the account below")
    made = drawn_cells(table, places, by_cells)
    assert text(*made).rstrip().split("\n") == wanted
    assert [line for line in text(*made, note).split("\n") if line] == [*wanted, note[2]]


def test_heads_of_several_columns() -> None:
    heads = "| Plan | Actual | Plan | Actual"
    table = [heads, "Rent | 5 | 6 | 7 | 8", "Heat | 1 | | 3 |", "Water | | 2 | 4 |"]
    made = drawn_cells(table, (50, 120, 180, 240, 300))
    spans = [(132.0, 715.0, "Year 2023"), (252.0, 715.0, "Year 2024")]
    assert text(*spans, *made).split("\n")[:2] == ["\tYear 2023\t\tYear 2024", "\tPlan\tActual\tPlan\tActual"]


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
    turned = {0: b"", 90: b"0 1 -1 0 800 0 cm ", 180: b"-1 0 0 -1 600 800 cm ", 270: b"0 -1 1 0 0 800 cm "}
    content = turned[turn] + drawn(in_turn(columns(*parts)))
    (found,) = texts(pages([(content, ())], entries=f"/Rotate {rotation} /MediaBox [0 0 900 900]"))
    assert found.split("\n") == [line for part in parts for line in part]


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_lines_of_a_page_turned_by_mistake(rotation: int) -> None:
    lines = prose(3, 4, 90)
    made = [(50, 740 - 13 * at, line) for at, line in enumerate(lines)] + cells_of(TIMETABLE, 600)
    wanted = ["\t".join(row).rstrip() for row in TIMETABLE]
    assert text(*made, entries=f"/Rotate {rotation}").split("\n") == [*lines, *wanted]


def test_labels_below_a_table_stand_before_their_values() -> None:
    table = [(50, 700, "Item"), (250, 700, "Amount"), (400, 700, "Price")]
    for number in range(6):
        top = 685 - 15 * number
        table += [(50, top, f"Plank {number}"), (250, top, str(number + 3)), (400, top, f"{number}9.50")]
    value = "Ines Vale, 14 Mill Lane, Holmby, a long way from the sea and the station"
    below = [(50, 560, "Deliver to"), (150, 560, value), (50, 540, "Invoice to"), (150, 540, f"{value} too")]
    assert text(*table, *below).endswith(f"Deliver to {value}\nInvoice to {value} too")


SPACES = b"".join(b"BT /G 10 Tf %d %d Td (A) Tj ET " % (x, y) for y in (9, 22, 35) for x in (50, 150, 250))


@pytest.mark.parametrize("before", [SPACES, b"BT /F 10 Tf 1 0 0 0 300 687 Tm (\x01\x01) Tj ET "])
def test_cells_of_spaces_and_flat_letters_refuse_no_page(before: bytes) -> None:
    codes = stream(b"1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <41> <3000> endbfchar")
    made = page((50, 740, "prose"), before=before, more=[FONT.replace(b">>", b"/ToUnicode 21 0 R >>"), codes])
    assert texts(made.replace(b"/Font << ", b"/Font << /G 20 0 R "))[0].split("\n")[-1] == "prose"


def test_the_rest_of_a_line_that_a_table_has_cut() -> None:
    handle = PdfDocument(page((50, 700, "Rope"), (200, 700, "note")))[0].get_textpage()
    rest = [(range(4, 5), Box(71, 698, 90, 709)), (range(4, 9), Box(50, 698, 220, 709))]
    assert [piece.text for piece in pieces(PageText(handle), rest)] == ["note"]
