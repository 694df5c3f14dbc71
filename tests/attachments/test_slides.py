"""Presentations as Markdown: titles, lists, tables, equations, charts, notes; what is hidden is marked."""

import pytest

from chat.attachments.confined.slides import slide_pages
from chat.attachments.confined.word import word_text
from tests.attachments import documents


def t(text: str, properties: str = "") -> str:
    return f"<a:r><a:rPr {properties}/><a:t>{text}</a:t></a:r>"


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
SERIES = (
    "<c:chart><c:title><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:title><c:ser><c:tx><c:v>North</c:v></c:tx>"
    "<c:cat><c:v>Q1</c:v><c:v>Q2</c:v></c:cat><c:val><c:v>3</c:v><c:v>4</c:v></c:val></c:ser></c:chart>"
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
        (TABLE, "| a\\|b | 1 |\n| --- | --- |\n| a\\|b | 2 |"),
    ],
    ids=range(13),
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


def test_a_chart_in_a_text_document() -> None:
    spaces = f'xmlns:c="{documents.DRAWING.replace("main", "chart")}" xmlns:a="{documents.DRAWING}"'
    body = f"<w:p><w:r><w:drawing><x {spaces}><c:chart r:id='chart'/></x></w:drawing></w:r></w:p>"
    content = documents.docx_with(body, chart=f"<x {spaces}>{SERIES}</x>")
    assert word_text(content) == CHART_TEXT


def test_notes_and_comments() -> None:
    notes = shape(f"<a:p>{t('say hello')}</a:p>", "body") + shape(f"<a:p>{t('3')}</a:p>", "sldNum")
    comments = "<p:cm><p:text>too long</p:text></p:cm>"
    found = text(shape(f"<a:p>{t('x')}</a:p>"), notesSlide=notes, comments=comments)
    assert found == "x\n\nNotes: say hello\n\n[comment: too long]"
