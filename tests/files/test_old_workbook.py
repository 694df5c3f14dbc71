"""Workbooks of Excel 97 to 2003, as those of today: formats, merged and hidden cells, notes."""

import struct

import pytest

from chat.files.confined.containers import Container
from chat.files.confined.documents import office_form, office_pages
from chat.files.confined.problem import Problem
from tests.files import documents
from tests.files.documents import record

FORMATS = b"".join(
    record(0x41E, struct.pack("<HHB", number, len(code), 0) + code.encode())
    + record(0xE0, struct.pack("<HH16x", 0, number))
    for number, code in ((164, "General"), (165, "[h]:mm"), (166, "00000"), (167, "yyyy-mm-dd"))
)


def texts(*parts: bytes, count: int = 2) -> bytes:
    return record(0xFC, struct.pack("<II", count, count) + parts[0], *parts[1:])


def number(row: int, column: int, value: float, style: int = 0) -> bytes:
    return record(0x203, struct.pack("<HHHd", row, column, style, value))


def sheet(cells: bytes, shared: bytes = FORMATS, state: int = 0) -> str:
    (page,) = office_pages(documents.xls(shared, cells, state), "xls")
    return page


def first_line(cells: bytes, shared: bytes = FORMATS) -> str:
    return sheet(cells, shared).split("\n")[2]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (number(0, 0, 1.34375, 1), "32:15"),
        (number(0, 0, 42, 2), "00042"),
        (number(0, 0, 46086, 3), "2026-03-05"),
        (number(0, 0, 1.989e30, 2), "1.989e+30"),
        (record(0x27E, struct.pack("<HHHi", 0, 0, 0, (7 << 2) | 2)), "7"),
        (record(0x27E, struct.pack("<HHHi", 0, 0, 0, (750 << 2) | 3)), "7.5"),
        (record(0x27E, struct.pack("<HHHI", 0, 0, 0, 0x3FF80000)), "1.5"),
        (record(0xBD, struct.pack("<HHHiHiH", 0, 0, 2, (7 << 2) | 2, 0, (8 << 2) | 2, 1)), "00007 | 8"),
        (record(0x205, struct.pack("<HHHBB", 0, 0, 0, 1, 0)), "TRUE"),
        (record(0x205, struct.pack("<HHHBB", 0, 0, 0, 0x2A, 1)), "#N/A"),
        (record(0x06, struct.pack("<HHHdHIH", 0, 0, 0, 2.5, 0, 0, 0)), "2.5"),
        (record(0x06, struct.pack("<HHH8sHIH", 0, 0, 0, b"\0\0\0\0\0\0\xff\xff", 0, 0, 0))
         + record(0x207, struct.pack("<HB", 2, 0) + b"so"), "so"),
        (record(0x06, struct.pack("<HHH8sHIH", 0, 0, 0, b"\1\0\1\0\0\0\xff\xff", 0, 0, 0)), "TRUE"),
        (record(0x204, struct.pack("<HHHHB", 0, 0, 0, 1, 1) + "東".encode("utf-16-le")), "東"),
    ],
    ids=range(14),
)  # fmt: skip
def test_a_cell(cell: bytes, text: str) -> None:
    assert first_line(cell) == f"| {text} |"


@pytest.mark.parametrize(
    "parts",
    [
        (b"\x03\0\0ab\xfc" + b"\x01\0\x01" + "東".encode("utf-16-le"),),
        (b"\x03\0\0a", b"\0b\xfc\x01\0\x01" + "東".encode("utf-16-le")),
        (b"\x03\0\0a", b"\x01" + "bü".encode("utf-16-le") + b"\x01\0\x01" + "東".encode("utf-16-le")),
        (b"\x03\0\x08\x01\0ab\xfc\0\0\0\0", b"\x01\0\x01" + "東".encode("utf-16-le")),
    ],
)
def test_shared_texts_are_divided_anywhere(parts: tuple[bytes, ...]) -> None:
    cells = b"".join(record(0xFD, struct.pack("<HHHI", 0, at, 0, at)) for at in range(2))
    assert first_line(cells, FORMATS + texts(*parts)) == "| abü | 東 |"


def font(name: bytes = b"Arial", flags: int = 0, raised: int = 0) -> bytes:
    return record(0x31, struct.pack("<HHHHH4xBB", 200, flags, 0, 400, raised, len(name), 0) + name)


# The font with number 4 is left out: the last one is number 5.
FONTS = b"".join([font(), font(flags=8), font(raised=1), font(b"Wingdings"), font(b"Symbol")]) + b"".join(
    record(0xE0, struct.pack("<HH16x", number, 0)) for number in (0, 1, 3)
)


@pytest.mark.parametrize(
    ("string", "style", "text"),
    [
        (b"\x05\0\x08\x01\0" + "5×103".encode("latin-1") + b"\x04\0\x02\0", 0, "5×10³"),
        (b"\x05\0\x08\x02\0" + b"50 mg" + b"\x03\0\x05\0\x04\0\0\0", 0, "50 μg"),
        (b"\x03\0\x00old", 1, "~~old~~"),
        (b"\x01\0\x00\xfc", 2, "✓"),
        (b"\x01\0\x00\xfc", 9, "ü"),
    ],
)
def test_a_text_in_its_fonts(string: bytes, style: int, text: str) -> None:
    cell = record(0xFD, struct.pack("<HHHI", 0, 0, style, 0)) + number(0, 1, 400, style=1)
    assert first_line(cell, FONTS + texts(string, count=1)) == f"| {text} | ~~400~~ |"


def test_merged_and_hidden_cells_and_notes() -> None:
    cells = (
        record(0x208, struct.pack("<HHHHHHI", 1, 0, 2, 0, 0, 0, 0x20))
        + record(0x7D, struct.pack("<HHHHHH", 1, 1, 0, 0, 1, 0))
        + number(0, 0, 1) + number(0, 1, 2) + number(1, 1, 3)
        + record(0xE5, struct.pack("<HHHHH", 1, 0, 1, 0, 0))
        + record(0x5D, struct.pack("<HHHH", 0x15, 18, 0x19, 9))
        + record(0x1B6, struct.pack("<10xH6x", 5), b"\0check")
        + record(0x1C, struct.pack("<HHHH", 0, 0, 0, 9))
    )  # fmt: skip
    assert sheet(cells, state=1) == (
        "## One (hidden)\n\n| 1 [note: check] | 2 [hidden column] |\n| --- | --- |\n| 1 [hidden row] | 3 |"
    )


def test_formulas_without_values_are_not_calculated() -> None:
    blank = record(0x06, struct.pack("<HHH8sHIH", 0, 0, 0, b"\3\0\0\0\0\0\xff\xff", 0, 0, 0))
    for history, wanted in ((0, "| (not calculated) | 1 |"), (0x41, "| 1 |")):
        (page,) = office_pages(documents.xls(FORMATS, blank + number(0, 1, 1), history=history), "xls")
        assert page.split("\n")[2] == wanted


def test_a_workbook_with_a_password() -> None:
    with pytest.raises(Problem, match="encrypted"):
        sheet(number(0, 0, 1), record(0x2F, bytes(6)))


@pytest.mark.parametrize("size", [0, 30, 600, 1_100])
def test_a_container_that_is_cut_ends(size: int) -> None:
    content = documents.xls(FORMATS, number(0, 0, 1))[:size]
    try:
        assert len(Container(content).stream("workbook")) < 2_000
    except (ValueError, struct.error):
        assert size < 600


def test_chains_in_a_loop_end() -> None:
    content = bytearray(documents.xls(FORMATS, number(0, 0, 1) * 200))
    # The second sector of the stream is followed by its first.
    struct.pack_into("<I", content, 512 + 4 * 3, 2)
    assert len(Container(bytes(content)).stream("workbook")) > 0


@pytest.mark.parametrize("inside", ["Workbook", "WordDocument", "__properties_version1.0"])
def test_a_file_inside_is_not_the_workbook(inside: str) -> None:
    made = documents.xls(FORMATS, number(0, 0, 7), inside=inside)
    assert "| 7 |" in "".join(office_pages(made, office_form(made)))
