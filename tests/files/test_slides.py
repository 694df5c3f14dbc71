"""Presentations as Markdown: titles, lists, tables, equations, charts, notes; what is hidden is marked."""

import pytest

from chat.files.confined.slides import slide_pages
from chat.files.confined.word import word_text
from tests.files import documents


def t(text: str, properties: str = "", font: str = "cs", name: str = "") -> str:
    return f"<a:r><a:rPr {properties}><a:{font} typeface='{name}'/></a:rPr><a:t>{text}</a:t></a:r>"


WINGDINGS = ("", "sym", "Wingdings")


def shape(paragraphs: str, placeholder: str = "", hidden: int = 0) -> str:
    kind = f'<p:ph type="{placeholder}"/>' if placeholder else ""
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="x" hidden="{hidden}"/><p:nvPr>{kind}</p:nvPr></p:nvSpPr>'
        f"<p:txBody>{paragraphs}</p:txBody></p:sp>"
    )


def text(shapes: str, **more: object) -> str:
    (page,) = slide_pages(documents.slide(shapes, **more))  # type: ignore[arg-type]
    return page.removeprefix("## Slide 1\n\n")


EQUATION = "<a14:m><m:oMath><m:r><m:t>x≤1</m:t></m:r></m:oMath></a14:m>"
AUTO = '<a:pPr><a:buAutoNum type="{}"/></a:pPr>'
CELL = "<a:tc {}><a:txBody><a:p>{}</a:p></a:txBody></a:tc>"
TABLE = (
    "<p:graphicFrame><a:tbl>"
    f"<a:tr>{CELL.format('rowSpan=&', t('a|b'))}{CELL.format('', t('1'))}</a:tr>"
    f"<a:tr>{CELL.format('vMerge=&', '')}{CELL.format('', t('2'))}</a:tr></a:tbl></p:graphicFrame>"
).replace("&", "'1'")
MERGED = CELL.format("hMerge='1'", "")
WIDE = (
    f"<p:graphicFrame><a:tbl><a:tr>{CELL.format('gridSpan=&2&', t('a'))}{MERGED}"
    f"{CELL.format('', t('b'))}</a:tr>"
    f"<a:tr>{CELL.format('gridSpan=&3&', t('all'))}{MERGED * 2}</a:tr></a:tbl></p:graphicFrame>"
).replace("&", "'")


def points(part: str, *values: str, code: str = "") -> str:
    """A part of a series; "" where a point has no value."""
    made = "".join(f'<c:pt idx="{at}"><c:v>{each}</c:v></c:pt>' for at, each in enumerate(values) if each)
    code = code and f"<c:formatCode>{code}</c:formatCode>"
    return f'<c:{part}><c:x>{code}<c:ptCount val="{len(values)}"/>{made}</c:x></c:{part}>'


def series(*parts: str, name: str = "A") -> str:
    return f"<c:ser><c:tx><c:v>{name}</c:v></c:tx>{''.join(parts)}</c:ser>"


SERIES = (
    "<c:chart><c:title><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:title><c:ser><c:tx><c:v>North</c:v></c:tx>"
    f"{points('cat', 'Q1', 'Q2')}{points('val', '3', '4')}</c:ser></c:chart>"
)
POINT = "<c:pt idx='{}'><c:v>{}</c:v></c:pt>"
LEVELS = (
    f"<c:cat><c:lvl>{POINT.format(0, 'Q1')}{POINT.format(1, 'Q2')}{POINT.format(2, 'Q1')}</c:lvl>"
    f"<c:lvl>{POINT.format(0, '2023')}{POINT.format(2, '2024')}</c:lvl></c:cat>"
)
CHART = '<c:chart r:id="r1"/>'
CHART_TEXT = "[chart: Sales]\n\n|  | North |\n| --- | --- |\n| Q1 | 3 |\n| Q2 | 4 |"


@pytest.mark.parametrize(
    ("shapes", "wanted"),
    [
        (shape(f"<a:p>{t('one')}</a:p><a:p><a:pPr lvl='1'/>{t('two')}</a:p>", "body"), "- one\n  - two"),
        (shape(f"<a:p><a:pPr><a:buNone/></a:pPr>{t('plain')}</a:p>", "body"), "plain"),
        (shape(f"<a:p>{t('box')}</a:p>"), "box"),
        (shape((f"<a:p>{AUTO.format('arabicPeriod')}{t('x')}</a:p>") * 2), "1. x\n2. x"),
        (shape((f"<a:p>{AUTO.format('alphaLcParenBoth')}{t('x')}</a:p>") * 2), "(a) x\n(b) x"),
        (shape(f"<a:p>{t('so ')}{EQUATION}</a:p>"), r"so $x\le 1$"),
        (shape(f"<a:p>{t('so ')}<mc:AlternateContent><mc:Choice>{EQUATION}</mc:Choice><mc:Fallback>{t('old')}"
               "</mc:Fallback></mc:AlternateContent></a:p>"), r"so $x\le 1$"),
        (shape("<a:p><a:r><a:rPr><a:hlinkClick r:id='l0'/></a:rPr><a:t>here</a:t></a:r></a:p>"),
         "[here](https://example.org/x)"),
        (shape("<a:p>" + t("m") + t("2", 'baseline="30000"') + "</a:p>"), "m²"),
        (shape(f"<a:p>{t('7')}</a:p>", "sldNum") + shape(f"<a:p>{t('x')}</a:p>", hidden=1), "## Slide 1"),
        ("<p:grpSp>" + shape("<a:p>" + t("grouped") + "</a:p>") + "</p:grpSp>", "grouped"),
        ('<p:pic><p:nvPicPr><p:cNvPr id="1" name="P" descr="a cat"/></p:nvPicPr></p:pic>',
         "[picture: a cat]"),
        ("<p:pic/>", "[picture]"),
        ("<p:graphicFrame><p:oleObj/></p:graphicFrame>", "[picture]"),
        (TABLE, "| a\\|b | 1 |\n| --- | --- |\n| a\\|b | 2 |"),
        (WIDE, "| a | a | b |\n| --- | --- | --- |\n| all |  |  |"),
        (shape("<a:p>" + t("4", 'strike="sngStrike"') + t("0", 'strike="sngStrike"') + t(" 65") + "</a:p>"),
         "~~40~~ 65"),
        (shape(f"<a:p>{t('50 ')}{t('m', font='latin', name='Symbol')}{t('g')}</a:p>"), "50 μg"),
        (shape(f"<a:p>{t('draft ')}{t('à', *WINGDINGS)}{t(' sent')}</a:p>"), "draft → sent"),
        (shape(f"<a:p>{t('&#xf0e0; déjà vu', *WINGDINGS)}</a:p>"), "→ déjà vu"),
    ],
    ids=range(20),
)  # fmt: skip
def test_a_shape(shapes: str, wanted: str) -> None:
    assert text(shapes, links=("https://example.org/x",)) == wanted


def test_a_title_and_a_hidden_slide() -> None:
    found = text(
        shape(f"<a:p>{t('The end')}</a:p>", "title") + shape(f"<a:p>{t('x')}</a:p>"), attributes='show="0"'
    )
    assert found == "## The end (hidden)\n\nx"


def test_charts_and_diagrams() -> None:
    assert text(f"<p:graphicFrame>{CHART}</p:graphicFrame>", chart=SERIES) == CHART_TEXT
    diagram = "<dgm:pt><a:p><a:r><a:t>one</a:t></a:r></a:p></dgm:pt><dgm:pt/>"
    frame = '<p:graphicFrame><dgm:relIds r:dm="r1"/></p:graphicFrame>'
    assert text(frame, diagramData=diagram) == "- one"
    names = ("Welder", "Director", "Foreman", "Cook", "Lost", "Again")
    diagram = '<dgm:pt modelId="doc" type="doc"/>' + "".join(
        f'<dgm:pt modelId="{each}"><a:p>{t(each)}</a:p></dgm:pt>' for each in names
    )
    order = (("doc", "Director", 0), ("Director", "Foreman", 1), ("Director", "Cook", 0),
             ("Foreman", "Welder", 0), ("Lost", "Again", 0), ("Again", "Lost", 0))  # fmt: skip
    diagram += "".join(f'<dgm:cxn srcId="{a}" destId="{b}" srcOrd="{at}"/>' for a, b, at in order)
    wanted = "- Director\n  - Cook\n  - Foreman\n    - Welder\n- Lost\n  - Again"
    assert text(frame, diagramData=diagram) == wanted


@pytest.mark.parametrize(
    ("chart", "wanted"),
    [
        (series(points("cat", "Q1", "Q2", "Q3"), points("val", "1.5", "", "3.5")), "/A;Q1/1.5;Q2/;Q3/3.5"),
        (series(points("cat", "Q1", "Q2"), points("val", "", "3"))
         + series(points("val", "4", ""), name="B"),
         "/A/B;Q1//4;Q2/3/"),
        (series(points("xVal", "1", "2"), points("yVal", "10", "20")) + series(
            points("xVal", "5", "6", "7"), points("yVal", "50", "60", "70"), name="B"),
         "/A;1/10;2/20\n\n/B;5/50;6/60;7/70"),
        (series(points("val", "7", "8")), "/A;1/7;2/8"),
        (series(points("cat", "45000", code="mmm yy"), points("val", "0.1", code="0%")),
         "/A;Mar 23/10%"),
        (series(points("cat", "007", "x"), points("val", "#N/A", "2", code="0")),
         "/A;007/#N/A;x/2"),
        (series(points("xVal", "1"), points("yVal", "3"), points("bubbleSize", "5")), "/A/A (size);1/3/5"),
        (series(LEVELS, points("val", "1", "2", "3")), "/A;2023 – Q1/1;2023 – Q2/2;2024 – Q1/3"),
        (series(points("cat", "x"), "<c:val><c:pt idx='4000000000'><c:v>1</c:v></c:pt></c:val>"), "/A;x/"),
    ],
    ids=range(9),
)  # fmt: skip
def test_a_value_of_a_chart_stands_at_its_point(chart: str, wanted: str) -> None:
    found = text(f"<p:graphicFrame>{CHART}</p:graphicFrame>", chart=f"<c:chart>{chart}</c:chart>")
    tables = found.removeprefix("[chart]\n\n").split("\n\n")
    rows = [[line.strip("|")[1:-1] for line in each.split("\n") if " --- " not in line] for each in tables]
    assert "\n\n".join(";".join(each).replace(" | ", "/") for each in rows) == wanted


def test_a_chart_of_a_newer_kind() -> None:
    inside = (
        "<cx:data id='0'><cx:strDim><cx:lvl><cx:pt idx='0'>Start</cx:pt><cx:pt idx='1'>Loss</cx:pt></cx:lvl>"
        "</cx:strDim><cx:numDim><cx:lvl formatCode='0.0'><cx:pt idx='1'>-40</cx:pt></cx:lvl></cx:numDim>"
        "</cx:data>"
        "<cx:chart><cx:title><cx:v>Cash</cx:v></cx:title><cx:series><cx:tx><cx:v>Sum</cx:v></cx:tx>"
        "<cx:dataId val='0'/></cx:series></cx:chart>"
    )
    frame = (
        "<mc:AlternateContent><mc:Choice><p:graphicFrame><cx:chart r:id='r1'/></p:graphicFrame></mc:Choice>"
    )
    frame += "<mc:Fallback><p:pic/></mc:Fallback></mc:AlternateContent>"
    assert (
        text(frame, chartEx=inside)
        == "[chart: Cash]\n\n|  | Sum |\n| --- | --- |\n| Start |  |\n| Loss | -40.0 |"
    )


def test_a_chart_in_a_text_document() -> None:
    spaces = f'xmlns:c="{documents.DRAWING.replace("main", "chart")}" xmlns:a="{documents.DRAWING}"'
    body = f"<w:p><w:r><w:drawing><x {spaces}>{CHART}</x></w:drawing></w:r></w:p>"
    content = documents.docx_with(body, chart=f"<x {spaces}>{SERIES}</x>")
    assert word_text(content) == CHART_TEXT


def test_notes_and_comments() -> None:
    notes = shape(f"<a:p>{t('say hello')}</a:p>", "body") + shape(f"<a:p>{t('3')}</a:p>", "sldNum")
    comments = "<p:cm><p:text>too long</p:text></p:cm>"
    found = text(shape(f"<a:p>{t('x')}</a:p>"), notesSlide=notes, comments=comments)
    assert found == "x\n\nNotes: say hello\n\n[comment: too long]"


def test_replies_follow_their_comments() -> None:
    body = "<n:txBody><a:p>" + t("{}") + "</a:p></n:txBody>"
    replies = f'<n:replyLst><n:reply authorId="B">{body.format("No")}</n:reply></n:replyLst>'
    comments = f'<n:cm xmlns:n="urn:n" authorId="A">{replies}{body.format("Why?")}</n:cm>'
    authors = '<n:author xmlns:n="urn:n" id="A" name="Ann"/><n:author xmlns:n="urn:n" id="B" name="Bob"/>'
    found = text(shape(f"<a:p>{t('x')}</a:p>"), comments=comments, authors=authors)
    assert found == "x\n\n[comment by Ann: Why?]\n\n[reply by Bob: No]"
