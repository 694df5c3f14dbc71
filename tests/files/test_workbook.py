"""Excel workbooks as Markdown: each value as its cell shows it, and few tokens for what is empty."""

import pytest

from chat.files.confined import workbook
from chat.files.confined.problem import Problem
from chat.files.confined.workbook import workbook_pages
from tests.files import documents
from tests.files.documents import SHEET


def c(reference: str, value: str, kind: str = "n", style: int = 0, formula: str | None = None) -> str:
    inside = f"<f>{formula}</f>" if formula is not None else ""
    return f'<c r="{reference}" t="{kind}" s="{style}">{inside}<v>{value}</v></c>'


def rows(*cells: list[str], hidden: int = 0) -> str:
    return "".join(
        f"<row r='{number}' hidden='{int(number == hidden)}'>{''.join(row)}</row>"
        for number, row in enumerate(cells, 1)
    )


def sheet(*args: object, **kwargs: object) -> str:
    """Return the text of the only sheet without its name."""
    (page,) = workbook_pages(documents.workbook(*args, **kwargs))  # type: ignore[arg-type]
    return page.removeprefix("## One\n\n")


def line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n|{' --- |' * len(cells)}"


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (c("A1", "0", "s"), "shared"),
        (c("A1", "1", "s"), "rich"),
        ('<c r="A1" t="inlineStr"><is><t>inline</t></is></c>', "inline"),
        (c("A1", "1", "b"), "TRUE"),
        (c("A1", "#DIV/0!", "e"), "#DIV/0!"),
        (c("A1", "2026-03-05T00:00:00", "d"), "2026-03-05T00:00:00"),
        (c("A1", "2026-03-05T08:30:00", "d", style=3), "1106072:30"),
        (c("A1", "not a date", "d", style=3), "not a date"),
        ('<c r="A1" t="inlineStr"><is><t>a_x000D_\nb_x005F_x000D_</t></is></c>', "a<br>b_x000D_"),
        (c("A1", "a_x000D_b", "str", formula="A2"), "a<br>b"),
        (c("A1", "0.1", style=1), "10%"),
        (c("A1", "7", style=2), "00007"),
        (c("A1", "1.34375", style=3), "32:15"),
        (c("A1", "0.30000000000000004"), "0.3"),
        (c("A1", "12345678901234567890"), "1.23456789012346e+19"),
        (c("A1", "3", formula="1+2"), "3"),
        (c("A1", "", formula="SUM(B2:B3)"), "=SUM(B2:B3) (not calculated)"),
        (c("A1", "", formula='A2&amp;" x"'), '=A2&" x" (not calculated)'),
        (c("A1", "", "str", formula="IF(1,)"), ""),
        (c("A1", "", formula="_xlfn.XLOOKUP(1,B:B,C:C)"), "=XLOOKUP(1,B:B,C:C) (not calculated)"),
        (c("A1", "here", "str", formula='HYPERLINK("https://example.org","here")'),
         "[here](https://example.org)"),
        ('<c r="A1" t="inlineStr"><is><t>a|b\nc</t></is></c>', r"a\|b<br>c"),
        ("<c><v>5</v></c>", "5"),
        (c("A1", "99", "s"), ""),
        (c("A1", "x"), "x"),
    ],
    ids=range(25),
)  # fmt: skip
def test_a_cell(cell: str, text: str) -> None:
    found = sheet(rows([cell, c("B1", "1")]), formats=("0%", "00000", "[h]:mm"))
    assert found == (line(text, "1") if text else line("1"))


FONTS = ("", "<strike/>", '<vertAlign val="superscript"/>', '<name val="Wingdings"/>')
STYLES = (
    f'<styleSheet xmlns="{SHEET}"><fonts>{"".join(f"<font>{each}</font>" for each in FONTS)}</fonts><cellXfs>'
    + "".join(f'<xf fontId="{at}"/>' for at in range(4))
    + "</cellXfs></styleSheet>"
)


def rich(*runs: tuple[str, str], style: int = 0) -> str:
    inside = "".join(f"<r>{more and f'<rPr>{more}</rPr>'}<t>{text}</t></r>" for text, more in runs)
    return f'<c r="A1" t="inlineStr" s="{style}"><is>{inside}</is></c>'


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (rich(("5×10", ""), ("3", '<vertAlign val="superscript"/>')), "5×10³"),
        (rich(("H", "<b/>"), ("2", '<vertAlign val="subscript"/>'), ("O", "<b/>")), "H₂O"),
        (rich(("old 10", "<strike/>"), (" new 20", "")), "~~old 10~~ new 20"),
        (rich(("50 ", ""), ("m", '<rFont val="Symbol"/>'), ("g", "")), "50 μg"),
        (rich(("old 10", ""), (" new 20", "<b/>"), style=1), "~~old 10~~ new 20"),
        (c("A1", "400", style=1), "~~400~~"),
        (c("A1", "1", style=2), "¹"),
        (c("A1", "ü", "str", style=3), "✓"),
        (c("A1", "û", "str", style=3, formula="B1"), "✗"),
        (c("A1", "", style=3, formula="B1"), "=B1 (not calculated)"),
        (c("A1", "here", "str", 1, 'HYPERLINK("https://example.org","here")'),
         "[~~here~~](https://example.org)"),
    ],
    ids=range(11),
)  # fmt: skip
def test_a_cell_in_its_fonts(cell: str, text: str) -> None:
    assert sheet(rows([cell, c("B1", "1")]), parts={"styles": STYLES}) == line(text, "1")


def test_a_shared_formula_without_results() -> None:
    first = '<c r="A1"><f t="shared" si="0" ref="A1:A2">B1*2</f></c>'
    found = sheet(rows([first], ['<c r="A2"><f t="shared" si="0"/></c>']))
    assert found.split("\n")[2] == "| =B1*2, as in A1 (not calculated) |"


def test_dates_of_1904() -> None:
    found = sheet(
        rows([c("A1", "44624", style=1)]), formats=("yyyy-mm-dd",), book='<workbookPr date1904="1"/>'
    )
    assert "2026-03-05" in found


NAME, AGE = c("A1", "1"), c("B1", "2")


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (rows([NAME, AGE, c("XFD1", "9")], [c("A2", "3"), c("B2", "4")]),
         f"A1:B2\n\n{line('1', '2')}\n| 3 | 4 |\n\nXFD1: 9"),
        (rows([NAME, AGE]) + f'<row r="9000">{c("A9000", "9")}</row>', "A1: 1\nB1: 2\n\nA9000: 9"),
        (rows([NAME, AGE], [], [], [c("B4", "3")]), f"{line('1', '2')}\n|  | 3 |"),
        (rows([NAME, c("E1", "2")]), line("1", "2")),
        ("".join(f'<row r="{n}"><c r="{chr(64 + n)}{n}"><v>{n}</v></c></row>' for n in range(1, 3)),
         f"{line('1', '')}\n|  | 2 |"),
    ],
    ids=range(5),
)  # fmt: skip
def test_empty_rows_and_columns_are_left_out(cells: str, text: str) -> None:
    assert sheet(cells) == text


def test_a_large_sheet_with_little_in_it_costs_little() -> None:
    diagonal = "".join(
        f'<row r="{n * 5}"><c r="{letter}{n * 5}"><v>{n}</v></c></row>'
        for n, letter in enumerate(
            (f"{one}{two}" for one in "ABCD" for two in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), 1
        )
    )
    assert len(sheet(diagonal)) < 1_200


def merged(*ranges: str) -> tuple[str, str]:
    cells = "".join(f"<mergeCell ref='{each}'/>" for each in ranges)
    return "", f"<mergeCells>{cells}</mergeCells>"


@pytest.mark.parametrize(
    ("cells", "ranges", "text"),
    [
        ([["A1=North", "B1=1"], ["B2=2"]], ["A1:A2"], f"{line('North', '1')}\n| North | 2 |"),
        ([["A1=Region", "B1=2025"], ["B2=Q1", "C2=Q2"]], ["B1:C1"],
         f"{line('Region', '2025', '2025')}\n|  | Q1 | Q2 |"),
        ([["A1=Title"], ["A2=x", "B2=y"]], ["A1:B1"], f"{line('Title', '')}\n| x | y |"),
        ([["A1=all", "B1=1"], ["B2=2"]], ["A1:A1048576"], f"{line('all', '1')}\n| all | 2 |"),
    ],
    ids=range(4),
)  # fmt: skip
def test_merged_cells_have_their_value_in_each_row(
    cells: list[list[str]], ranges: list[str], text: str
) -> None:
    made = [[c(each.partition("=")[0], each.partition("=")[2], "str") for each in row] for row in cells]
    assert sheet(rows(*made), around=merged(*ranges)) == text


def test_hidden_rows_columns_and_sheets_are_marked() -> None:
    cells = rows([NAME, AGE], [c("A2", "3"), c("B2", "4")], hidden=2)
    columns = '<cols><col min="2" max="2" hidden="1"/></cols>'
    found = sheet(cells, around=(columns, ""), state="hidden")
    assert found == f"## One (hidden)\n\n{line('1', '2 [hidden column]')}\n| 3 [hidden row] | 4 |"


def test_notes_and_links_at_their_cells() -> None:
    notes = (
        f'<comments xmlns="{SHEET}"><authors><author>Ann</author></authors><commentList>'
        '<comment ref="A1" authorId="0"><text><r><t>Ann:</t></r><r><t> check</t></r></text></comment>'
        '<comment ref="B1" authorId="0"><text><t>[Threaded '
        "comment]</t></text></comment></commentList></comments>"
    )
    threads = (
        '<ThreadedComments xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments">'
        '<threadedComment ref="B1"><text>why?</text></threadedComment>'
        '<threadedComment ref="B1"><text>so</text></threadedComment></ThreadedComments>'
    )
    around = ("", '<hyperlinks><hyperlink ref="C1" r:id="l0"/></hyperlinks>')
    found = sheet(
        rows([NAME, AGE, c("C1", "site", "str")]),
        around=around,
        parts={"comments": notes, "threadedComment": threads},
        links=("https://example.org/x",),
    )
    assert found == line("1 [note by Ann: check]", "2 [comment: why? / so]", "[site](https://example.org/x)")


def test_text_boxes_follow_the_cells() -> None:
    box = f'<x xmlns:a="{documents.DRAWING}"><a:p><a:r><a:t>in a box</a:t></a:r></a:p></x>'
    assert sheet(rows([NAME, AGE]), parts={"drawing": box}) == f"{line('1', '2')}\n\nin a box"


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        ('<y><z:cNvPr xmlns:z="urn:z" descr="a cat"/></y>', "[picture: a cat]"),
        ('<c:chart r:id="r1"/>', "[chart: Sales]"),
    ],
)
def test_pictures_and_charts_are_named(drawn: str, text: str) -> None:
    spaces = f'xmlns:c="{documents.DRAWING.replace("main", "chart")}" xmlns:r="{documents.OFFICE}"'
    chart = (
        f"<x {spaces}><c:chart><c:title><c:v>Sales</c:v></c:title></c:chart><c:ser><c:v>1</c:v></c:ser></x>"
    )
    files = {"xl/_rels/drawing.xml.rels": documents.relations(("chart", "chart.xml")), "xl/chart.xml": chart}
    drawing = f"<x {spaces}><anchor>{drawn}</anchor></x>"
    found = sheet(rows([NAME, AGE]), parts={"drawing": drawing}, files=files)
    assert found == f"{line('1', '2')}\n\n{text}"


VML = '<x xmlns:v="urn:schemas-microsoft-com:vml" xmlns:x="urn:schemas-microsoft-com:office:excel">{}</x>'


def control(kind: str, inside: str, caption: str = "", anchor: str = "1, 2, 0, 3, 2, 0, 1, 1") -> str:
    return (
        f"<v:shape><v:textbox><div>{caption}</div></v:textbox><x:ClientData ObjectType='{kind}'>"
        f"<x:Anchor>{anchor}</x:Anchor>{inside}</x:ClientData></v:shape>"
    )


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (control("Checkbox", "<x:Checked>1</x:Checked>", "I agree"), "2 ☒ I agree"),
        (control("Checkbox", "", "I agree"), "2 ☐ I agree"),
        (control("Radio", "<x:Checked>1</x:Checked>", anchor="1, 2, 0, 0, 2, 0, 0, 19"), "2 ☒"),
        (control("Drop", "<x:FmlaRange>$D$1:$D$3</x:FmlaRange><x:Sel>2</x:Sel>"), "2 [choice 2 of D1:D3]"),
        (control("Label", "", "Age"), "2 Age"),
        (control("Note", "", "Age"), "2"),
        ("<br>", "2"),
    ],
    ids=range(7),
)
def test_controls_stand_at_their_cells(shape: str, text: str) -> None:
    assert sheet(rows([NAME, AGE]), parts={"vmlDrawing": VML.format(shape)}) == line("1", text)


@pytest.mark.parametrize(
    ("vm", "text"),
    [(1, "[picture]"), (2, "[picture: a cat]"), (3, "Contoso"), (4, "#VALUE!"), (9, "#VALUE!")],
)
def test_a_cell_of_a_rich_value(vm: int, text: str) -> None:
    blocks = "".join(f"<x><r:rvb xmlns:r='urn:r' i='{at}'/></x>" for at in (0, 3, 1, 2))
    cells = "".join(f"<bk><rc t='1' v='{at}'/></bk>" for at in (0, 1, 2, 3))
    parts = {
        "sheetMetadata": f"<x xmlns='{SHEET}'>{blocks}<valueMetadata>{cells}</valueMetadata></x>",
        "rdRichValue": "<x><rv s='0'><v>5</v></rv><rv s='1'><v>Contoso</v></rv><rv s='2'><v>8</v></rv>"
        "<rv s='0'><v>5</v><v>a cat</v></rv></x>",
        "rdRichValueStructure": "<x><s t='_localImage'><k n='i'/><k n='Text'/></s><s t='_entity'>"
        "<k n='_DisplayString'/></s><s t='_error'><k n='errorType'/></s></x>",
    }
    cell = f'<c r="A1" t="e" vm="{vm}"><v>#VALUE!</v></c>'
    assert sheet(rows([cell, c("B1", "1")]), shared=parts) == line(text, "1")


def test_too_many_characters_are_refused_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MAX_CHARACTERS", 5)
    with pytest.raises(Problem, match="long"):
        sheet(rows([NAME, AGE]))


def test_a_workbook_of_empty_sheets_holds_no_text() -> None:
    assert list(workbook_pages(documents.workbook(""))) == []
