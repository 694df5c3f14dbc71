"""Our style sheets say start and end, never left and right, so that a page can be mirrored."""

import re

import pytest

from chatsite.storage import minified_css
from tests.support.databases import ROOT

SHEETS = sorted((ROOT / "static" / "css").glob("*.css"))
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DECLARATION = re.compile(r"(?<![\w-])([a-z-]+)\s*:\s*([^;{}]+)(?=[;}])")
SIDE = r"(left|right|top|bottom)"
PHYSICAL = re.compile(
    rf"((margin|padding|border|inset|scroll-margin|scroll-padding)-)?{SIDE}(-\w+)*|border-{SIDE}-{SIDE}-radius"
    r"|(min-|max-)?(width|height)|overflow-[xy]|overscroll-behavior-[xy]"
)
SPOKEN = re.compile(r"(text-align|float|clear|caption-side)\s*:\s*(left|right)\b")
# Code and tables scroll sideways, whatever is read. Firefox has no -inline of these yet.
FINE = {"overflow-x", "overflow-y", "overscroll-behavior-x"}


def physical(sheet: str) -> list[str]:
    """Declarations that name a side of the screen, and sides of four values that differ."""
    text = COMMENT.sub("", sheet)
    found = [match[0] for match in SPOKEN.finditer(text)]
    for name, value in DECLARATION.findall(text):
        if PHYSICAL.fullmatch(name) and name not in FINE:
            found.append(f"{name}: {value}")
        sides = value.split()
        if name in ("margin", "padding", "inset") and len(sides) == 4 and sides[1] != sides[3]:
            found.append(f"{name}: {value}")
    return found


def rules(sheet: str) -> str:
    return " ".join(COMMENT.sub("", sheet).split())


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.name)
def test_a_sheet_is_served_with_the_same_rules_in_fewer_bytes(sheet) -> None:
    source = sheet.read_text("utf-8")
    served = minified_css(source)
    assert rules(served) == rules(source)
    assert not COMMENT.search(served)
    assert not re.search(r"\n\s|^\s", served)


def test_lookalikes_of_comments_and_indents_stay() -> None:
    kept = 'a::before { content: "/* no */\\\n  comment"; }\nb { margin: 1px/* kept */2px; }\n'
    assert minified_css(f"/* gone */\n\n  {kept}") == kept


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.name)
def test_no_sheet_names_a_side_of_the_screen(sheet) -> None:
    assert physical(sheet.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "margin-left: 1px", "right: 0", "text-align: right", "float:left", "max-width: 3px",
        "padding: 0 1px 0 2px", "border-top-left-radius: 1px", "border-right: 0", "inset: 0 1px 0 auto",
    ],
)  # fmt: skip
def test_such_a_declaration_would_be_noticed(wrong: str) -> None:
    assert physical(f"p {{ color: red; {wrong}; }}")
