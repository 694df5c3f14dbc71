"""Word documents as Markdown: what a reader sees, with the numbers and marks that Word shows."""

import pytest

from chat.files.confined.word import word_text
from tests.files import documents
from tests.files.documents import docx, docx_with, paragraph, relations


def numbered(text: str, level: int = 0, number: int = 1) -> str:
    own = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
    return f"<w:p><w:pPr>{own}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def styled(text: str, style: str) -> str:
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'


def level(depth: int, kind: str, label: str, more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{label}"/>'
        f"{more}</w:lvl>"
    )


def lists(*levels: str, more: str = "") -> str:
    return (
        f'<w:abstractNum w:abstractNumId="0">{"".join(levels)}</w:abstractNum>'
        f'<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>{more}'
    )


ANEW = (
    '<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/>'
    "</w:lvlOverride></w:num>"
)
CLAUSES = lists(level(0, "decimal", "§ %1."), level(1, "lowerLetter", "(%2)"), level(2, "lowerRoman", "%3)"))


@pytest.mark.parametrize(
    ("numbering", "items", "wanted"),
    [
        (CLAUSES, [0, 1, 1, 0, 1], "§ 1. x\n  (a) x\n  (b) x\n§ 2. x\n  (a) x"),
        (CLAUSES, [0, 1, 2, 2, 1], "§ 1. x\n  (a) x\n    i) x\n    ii) x\n  (b) x"),
        (lists(level(0, "bullet", "\uf0b7"), level(1, "bullet", "o")), [0, 1], "- x\n  - x"),
        (lists(level(0, "upperRoman", "%1."), level(1, "decimal", "%1.%2")), [0, 0, 1],
         "I. x\nII. x\n  II.1 x"),
        (lists(level(0, "upperRoman", "%1."), level(1, "decimal", "%1.%2", "<w:isLgl/>")), [0, 1],
         "I. x\n  1.1 x"),
        (lists(level(0, "decimal", "%1."), level(1, "decimal", "%2.", '<w:lvlRestart w:val="0"/>')),
         [0, 1, 0, 1], "1. x\n  1. x\n2. x\n  2. x"),
        (lists(level(0, "decimalZero", "%1")), [0], "01 x"),
        (lists(level(0, "upperLetter", "%1.")), [0] * 3, "A. x\nB. x\nC. x"),
        (lists(level(0, "ordinal", "%1 point:")), [0, 0], "1st point: x\n2nd point: x"),
        (lists(level(0, "chineseCounting", "%1、")), [0, 0], "一、 x\n二、 x"),
        (lists(level(0, "hebrew1", "%1.")).replace('start w:val="1"', 'start w:val="14"'), [0, 0, 0],
         "יד. x\nטו. x\nטז. x"),
        (lists(level(0, "arabicAbjad", "%1 -")), [0, 0, 0], "أ - x\nب - x\nج - x"),
        (lists(level(0, "chicago", "%1")), [0] * 5, "* x\n† x\n‡ x\n§ x\n** x"),
        (lists(level(0, "none", "Note:")), [0], "Note: x"),
        (lists(level(0, "unheardOf", "%1.")), [0], "1. x"),
        (lists(level(0, "decimal", "%1.")).replace('start w:val="1"', 'start w:val="5"'), [0, 0],
         "5. x\n6. x"),
        (lists(level(0, "decimal", "%1."), level(1, "decimal", "%1.%2.")), [1], "  1.1. x"),
    ],
    ids=range(17),
)  # fmt: skip
def test_numbers_of_lists(numbering: str, items: list[int], wanted: str) -> None:
    assert (
        word_text(docx_with("".join(numbered("x", depth) for depth in items), numbering=numbering)) == wanted
    )


def test_lists_go_on_or_begin_anew() -> None:
    going_on = '<w:num w:numId="3"><w:abstractNumId w:val="0"/></w:num>'
    body = (
        numbered("a") + numbered("b") + paragraph("between") + numbered("c", number=3) + numbered("d", 0, 2)
    )
    found = word_text(docx_with(body, numbering=lists(level(0, "decimal", "%1."), more=ANEW + going_on)))
    assert found == "1. a\n2. b\n\nbetween\n\n3. c\n1. d"


def test_numbers_come_from_styles() -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId '
        'w:val="1"/>'
        '</w:numPr></w:pPr></w:style><w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/>'
        '<w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr><w:outlineLvl '
        'w:val="1"/></w:pPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Plain"><w:basedOn w:val="H2"/><w:pPr><w:outlineLvl '
        'w:val="9"/>'
        '<w:numPr><w:numId w:val="0"/></w:numPr></w:pPr></w:style>'
    )
    numbering = lists(level(0, "decimal", "%1", '<w:pStyle w:val="H1"/>'), level(1, "decimal", "%1.%2"))
    body = styled("One", "H1") + styled("Part", "H2") + styled("text", "Plain") + styled("Two", "H1")
    assert word_text(docx_with(body, numbering=numbering, styles=styles)) == (
        "# 1 One\n\n## 1.1 Part\n\ntext\n\n# 2 Two"
    )


def test_styles_on_styles_are_followed_for_a_while() -> None:
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="S{each}"><w:basedOn w:val="S{each - 1}"/></w:style>'
        for each in range(2_000)
    )
    body = styled("a", "S1999") * 2_000
    assert word_text(docx_with(body, styles=styles)).split() == ["a"] * 2_000


def run(inside: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr>{inside}</w:r>"


def t(text: str) -> str:
    return f'<w:t xml:space="preserve">{text}</w:t>'


def field(instruction: str, result: str, data: str = "") -> str:
    def mark(kind: str, inside: str = "") -> str:
        return run(f'<w:fldChar w:fldCharType="{kind}">{inside}</w:fldChar>')

    return (
        mark("begin",
        data) + run(f"<w:instrText>{instruction}</w:instrText>") + mark("separate") + run(t(result))
        + mark("end")
    )  # fmt: skip


BOX = "<w:txbxContent>" + paragraph("in the box") + "</w:txbxContent>"
PICTURE = '<w:drawing><wp:docPr id="1" name="P" descr="{}"/><a:blip r:embed="x"/></w:drawing>'
DEFAULT_BOX = "<w:ffData><w:checkBox><w:default w:val='{}'/></w:checkBox></w:ffData>"
LIST = (
    "<w:ffData><w:ddList><w:result w:val='1'/><w:listEntry w:val='red'/><w:listEntry w:val='blue'/>"
    "</w:ddList></w:ffData>"
)


@pytest.mark.parametrize(
    ("inside", "wanted"),
    [
        (run(t("one ")) + run(t("two"), "<w:b/>") + run(t(" three"), "<w:b/>"), "one **two three**"),
        (run(t("x"), "<w:b w:val='0'/>"), "x"),
        (run(t("old"), "<w:strike/>"), "~~old~~"),
        (run(t("m")) + run(t("2"), '<w:vertAlign w:val="superscript"/>'), "m²"),
        (run(t("H")) + run(t("2"), '<w:vertAlign w:val="subscript"/>') + run(t("O")), "H₂O"),
        (run(t("1")) + run(t("st"), '<w:vertAlign w:val="superscript"/>'), "1<sup>st</sup>"),
        (run(t("a") + "<w:tab/>" + t("b") + "<w:br/>" + t("c")), "a\tb\nc"),
        (run(t("co") + "<w:softHyphen/>" + t("op") + "<w:noBreakHyphen/>" + t("1")), "coop-1"),
        (run('<w:sym w:font="Symbol" w:char="F061"/>') + run('<w:sym w:font="Wingdings" '
        'w:char="F0FC"/>'), "α✓"),
        (run(t("\uf0b3"), '<w:rFonts w:ascii="Symbol"/>'), "≥"),
        (run('<w:sym w:font="Unheard" w:char="F061"/>') + run(t("x")), "\ufffdx"),
        (run(t("secret"), "<w:vanish/>") + run(t("open")), "open"),
        (f"<w:del>{run('<w:delText>400</w:delText>')}</w:del><w:ins>{run(t('650'))}</w:ins>", "650"),
        (f"<w:moveFrom>{run(t('x'))}</w:moveFrom><w:moveTo>{run(t('y'))}</w:moveTo>", "y"),
        (f"<w:smartTag>{run(t('Rome'))}</w:smartTag>", "Rome"),
        (f"<w:sdt><w:sdtPr><w:alias/></w:sdtPr><w:sdtContent>{run(t('☒'))}</w:sdtContent></w:sdt>", "☒"),
        (f'<w:hyperlink r:id="l0">{run(t("here"))}</w:hyperlink>', "[here](https://example.org/a)"),
        (f'<w:hyperlink r:id="l0">{run(t("https://example.org/a"))}</w:hyperlink>', "https://example.org/a"),
        (f'<w:hyperlink w:anchor="x">{run(t("below"))}</w:hyperlink>', "below"),
        (field('HYPERLINK "https://example.org/b"', "there"), "[there](https://example.org/b)"),
        (field("PAGE", "7"), "7"),
        (f'<w:fldSimple w:instr="REF x">{run(t("§ 3"))}</w:fldSimple>', "§ 3"),
        (field("FORMCHECKBOX", "", DEFAULT_BOX.format(1)) + run(t(" yes")), "☒ yes"),
        (field("FORMCHECKBOX", "", DEFAULT_BOX.format(0)), "☐"),
        (field("FORMDROPDOWN", "", LIST), "blue"),
        (run(f"<mc:AlternateContent><mc:Choice><w:drawing>{BOX}</w:drawing></mc:Choice><mc:Fallback>"
             f"<w:pict>{BOX}</w:pict></mc:Fallback></mc:AlternateContent>"), "in the box"),
        (run("<mc:AlternateContent><mc:Choice><w16se:symEx xmlns:w16se='urn:x'/></mc:Choice><mc:Fallback>"
             f"{t('😊')}</mc:Fallback></mc:AlternateContent>"), "😊"),
        (run(PICTURE.format("a cat")), "[picture: a cat]"),
        (run(PICTURE.format("")), "[picture]"),
        (run('<w:pict><v:shape alt="x"><v:textpath string="Draft"/></v:shape></w:pict>'), "Draft"),
        (field('HYPERLINK "https://example.org/a b"', "there"), "[there](https://example.org/a%20b)"),
        (run("<w:ruby><w:rt><w:r><w:t>とうきょう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東京</w:t></w:r></w:rubyBase>"
             "</w:ruby>") + run(t("に行く。")), "東京に行く。"),
        (f"<w:bdo>{run(t('x'))}</w:bdo>" + run(t(" < 5 & 6")), "x < 5 & 6"),
    ],
    ids=range(33),
)  # fmt: skip
def test_a_paragraph(inside: str, wanted: str) -> None:
    assert word_text(docx_with(f"<w:p>{inside}</w:p>", links=("https://example.org/a",))) == wanted


STYLES = "".join(
    f'<w:style w:type="{kind}" w:styleId="{name}">{more}</w:style>'
    for kind, name, more in (
        ("character", "Up", '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>'),
        ("character", "Above", '<w:basedOn w:val="Up"/><w:rPr><w:b/></w:rPr>'),
        ("character", "Gone", "<w:rPr><w:strike/></w:rPr>"),
        ("character", "Secret", "<w:rPr><w:vanish/></w:rPr>"),
        ("character", "Greek", '<w:rPr><w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/></w:rPr>'),
        ("paragraph", "Old", "<w:rPr><w:strike/></w:rPr>"),
        ("paragraph", "Large", '<w:rPr><w:sz w:val="28"/></w:rPr>'),
    )
)


def of(style: str, more: str = "") -> str:
    return f'<w:rStyle w:val="{style}"/>{more}'


@pytest.mark.parametrize(
    ("inside", "wanted", "style"),
    [
        (run(t("10")) + run(t("6"), of("Up")), "10⁶", ""),
        (run(t("10")) + run(t("6"), of("Above")), "10⁶", ""),
        (run(t("10")) + run(t("6"), of("Up", '<w:vertAlign w:val="baseline"/>')), "106", ""),
        (run(t("400"), of("Gone")) + run(t(" 650")), "~~400~~ 650", ""),
        (run(t("400"), of("Gone", "<w:strike w:val='0'/>")), "400", ""),
        (run(t("400")) + run(t(" 650"), "<w:strike w:val='0'/>"), "~~400~~ 650", "Old"),
        (run(t("400 ")) + run(t("650"), of("Gone")), "~~400~~ 650", "Old"),
        (run(t("x")) + run(t("y"), of("Secret")), "x", ""),
        (run(t("50 ")) + run(t("m"), of("Greek")) + run(t("g")), "50 μg", ""),
        (run(t("10")) + run(t("6"), '<w:position w:val="6"/><w:sz w:val="18"/>'), "10⁶", "Large"),
        (run(t("H")) + run(t("2"), '<w:position w:val="-4"/><w:sz w:val="14"/>') + run(t("O")), "H₂O", ""),
        (run(t("10")) + run(t("6"), '<w:position w:val="6"/><w:sz w:val="28"/>'), "106", "Large"),
    ],
    ids=range(12),
)
def test_characters_look_as_their_styles_say(inside: str, wanted: str, style: str) -> None:
    body = f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{inside}</w:p>'
    assert word_text(docx_with(body, styles=STYLES)) == wanted


def test_a_field_without_an_end_hides_no_other_paragraph() -> None:
    begin = run('<w:fldChar w:fldCharType="begin"/>') + run("<w:instrText>HYPERLINK</w:instrText>")
    assert word_text(docx_with(f"<w:p>{begin}</w:p>{paragraph('one')}{paragraph('two')}")) == "one\n\ntwo"


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("<!DOCTYPE html><body><p>Grüße <b>x</b>".encode(), "Grüße x"),
        ("\ufeff<ul><li>one".encode(), "- one"),
        (b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n"
         b"Content-Location: a\nContent-Transfer-Encoding: quoted-printable\n\n<p>T=C3=BC\n--b--", "Tü"),
        (docx("inner"), "inner"),
        (b"plain: words", "plain: words"),
        (rb"{\rtf1\ansi{\fonttbl}words}", "[a part in RTF that could not be read]"),
    ],
    ids=["page", "fragment", "mhtml", "docx", "text", "rtf"],
)  # fmt: skip
def test_a_file_in_a_document_is_read(content: bytes, wanted: str) -> None:
    links = relations(("aFChunk", "part"))
    body = f"{paragraph('before')}<w:altChunk r:id='r1'/>{paragraph('behind')}"
    whole = docx(body=body, word__part=content, **{"word___rels__document.xml.rels": links})
    assert word_text(whole) == f"before\n\n{wanted}\n\nbehind"


def test_a_paragraph_whose_end_is_deleted_goes_on() -> None:
    first = f"<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>{run(t('one '))}</w:p>"
    assert word_text(docx_with(first + paragraph("two"))) == "one two"


def test_a_large_initial_begins_its_word() -> None:
    first = f'<w:p><w:pPr><w:framePr w:dropCap="drop" w:lines="3"/></w:pPr>{run(t("O"))}</w:p>'
    assert word_text(docx_with(first + paragraph("nce"))) == "Once"


XML = '<d:all xmlns:d="urn:d"><d:who>Ann</d:who><d:who kind="b">Bob</d:who><d:none/></d:all>'
CORE = (
    '<c:core xmlns:c="urn:c"><dc:title xmlns:dc="http://purl.org/dc/elements/1.1/">Plan</dc:title></c:core>'
)


@pytest.mark.parametrize(
    ("path", "store", "wanted"),
    [
        ("/x:all[1]/x:who[1]", "{a}", "Ann"),
        ("/x:all/x:who[2]/text()", "{A}", "Bob"),
        ("/x:all[1]/x:who[2]/@kind", "{a}", "b"),
        ("/y:core[1]/x:title[1]", "{6C3C8BC8-F283-45AE-878A-BAB7291924A1}", "Plan"),
        ("/x:all[1]/x:none[1]", "{a}", "[Name]"),
        ("/x:all[1]/x:who[3]", "{a}", "[Name]"),
        ("/x:all[1]/x:who[last()]", "{a}", "[Name]"),
        ("/x:all[1]/x:who[1]", "{b}", "[Name]"),
    ],
)
def test_a_control_shows_what_it_is_bound_to(path: str, store: str, wanted: str) -> None:
    bound = f'<w:dataBinding w:xpath="{path}" w:storeItemID="{store}"/><w:text/>'
    inside = run(t("[")) + run(t("Name]"))
    control = f"<w:sdt><w:sdtPr>{bound}</w:sdtPr><w:sdtContent>{inside}</w:sdtContent></w:sdt>"
    content = docx(
        body=f"<w:p>{run(t('For '))}{control}</w:p>",
        **{
            "docProps/core.xml": CORE,
            "item.xml": XML,
            "item_props.xml": '<x xmlns:ds="urn:ds" ds:itemID="{A}"/>',
            "_rels/item.xml.rels": relations(("customXmlProps", "item_props.xml")),
            "word/_rels/document.xml.rels": relations(("customXml", "../item.xml")),
        },
    )
    assert word_text(content) == f"For {wanted}"


def cell(inside: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inside}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


A, B, C = (cell(paragraph(each)) for each in "abc")
GOING_ON = cell("<w:p/>", "<w:vMerge/>")
GONE = cell(paragraph("old"), "<w:cellDel/>")
WIDE = '<w:gridSpan w:val="2"/>'
RULE = "| --- | --- |"


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (row(A, B) + row(B, A), f"| a | b |\n{RULE}\n| b | a |"),
        (row(cell(paragraph("x") + paragraph("y|z")), B) + row(A, B),
         f"| x<br>y\\|z | b |\n{RULE}\n| a | b |"),
        (row(cell(paragraph("a"), '<w:vMerge w:val="restart"/>'), B) + row(GOING_ON, C),
         f"| a | b |\n{RULE}\n| a | c |"),
        (row(cell(paragraph("all"), WIDE)) + row(A, B), f"| all |  |\n{RULE}\n| a | b |"),
        (row(A, cell(paragraph("two"), WIDE)) + row(A, B, C),
         "| a | two | two |\n| --- | --- | --- |\n| a | b | c |"),
        (row(A, B) + row(C, C, properties="<w:del/>"), f"| a | b |\n{RULE}"),
        (row(A, GONE, B) + row(GONE, C, C) + row(GONE, GONE), f"| a | b |\n{RULE}\n| c | c |"),
        (row(A, B) + f"<w:ins>{row(C, C)}</w:ins>", f"| a | b |\n{RULE}\n| c | c |"),
        (row(B, properties='<w:gridBefore w:val="1"/>') + row(A, B), f"|  | b |\n{RULE}\n| a | b |"),
        (row(cell(paragraph("frame") + paragraph("two"))), "frame\n\ntwo"),
        (row(A, cell(f"<w:tbl>{row(A, B)}{row(B, C)}</w:tbl><w:p/>")) + row(A, B),
         f"| a | a; b<br>b; c |\n{RULE}\n| a | b |"),
        (row(cell("<w:p/>"), cell("<w:p/>")) + row(A, B), f"|  |  |\n{RULE}\n| a | b |"),
    ],
    ids=range(12),
)  # fmt: skip
def test_a_table(rows: str, wanted: str) -> None:
    assert word_text(docx_with(f"<w:tbl>{rows}</w:tbl>")) == wanted


def test_notes_and_comments_at_their_places() -> None:
    def note(kind: str, identity: int, text: str) -> str:
        return f'<w:{kind} w:id="{identity}" w:author="Ann">{paragraph(text)}</w:{kind}>'

    def at(kind: str, identity: int) -> str:
        return run(f'<w:{kind}Reference w:id="{identity}"/>')

    body = (
        f"<w:p>{run(t('First'))}{at('footnote', 2)}"
        f'<w:commentRangeStart w:id="0"/>{run(t(" twelve"))}<w:commentRangeEnd w:id="0"/>{at("comment", 0)}'
        f"{run(t(' last'))}{at('endnote', 2)}{at('footnote', 3)}</w:p>"
    )
    found = word_text(
        docx_with(
            body,
            footnotes=note("footnote", 2, "One.") + note("footnote", 3, "Two."),
            endnotes=note("endnote", 2, "End."),
            comments=note("comment", 0, "Really?"),
        )
    )
    assert found == (
        "First[^1] twelve[^c1] last[^e1][^2]\n\n[^1]: One.\n\n[^c1]: Comment by Ann on “twelve”: Really?\n\n"
        "[^e1]: End.\n\n[^2]: Two."
    )


def test_headers_and_footers_once() -> None:
    link = f'<w:p><w:hyperlink r:id="l0">{run(t("site"))}</w:hyperlink></w:p>'
    box = f"<w:p>{run(f'<w:pict><w:txbxContent>{link}</w:txbxContent></w:pict>')}</w:p>"
    links = [("https://e.org/wrong",), ("https://e.org/",)]
    made = docx_with(paragraph("text"), *links, header=box, footer=paragraph("Page 1"))
    assert word_text(made) == "[site](https://e.org/)\n\ntext\n\nPage 1"


def test_a_strict_document() -> None:
    strict = documents.WORD_SPACES.replace(documents.WORD, "http://purl.oclc.org/ooxml/wordprocessingml/main")
    document = f"<w:document {strict}><w:body>{paragraph('strict')}</w:body></w:document>"
    assert word_text(documents.package({"word/document.xml": document})) == "strict"


def test_signs_that_were_not_escaped() -> None:
    assert word_text(documents.docx("before", body=paragraph("before") + paragraph("a < b & c\x01"))) == (
        "before\n\na < b & c"
    )
