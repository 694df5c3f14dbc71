"""Equations of Office files as TeX."""

from xml.etree import ElementTree

import pytest

from chat.files.confined.office_math import tex_of
from chat.files.confined.word import word_text
from tests.files import documents


def r(text: str, properties: str = "") -> str:
    return f"<m:r>{f'<m:rPr>{properties}</m:rPr>' if properties else ''}<m:t>{text}</m:t></m:r>"


def e(*texts: str, tag: str = "e") -> str:
    return "".join(f"<m:{tag}>{text if text.startswith('<') else r(text)}</m:{tag}>" for text in texts)


def of(kind: str, inside: str, **properties: str) -> str:
    own = "".join(f'<m:{name} m:val="{value}"/>' for name, value in properties.items())
    return f"<m:{kind}>{f'<m:{kind}Pr>{own}</m:{kind}Pr>' if own else ''}{inside}</m:{kind}>"


FRACTION = of("f", e("a", tag="num") + e("b", tag="den"))
MATRIX = of("m", "".join(f"<m:mr>{e(*row)}</m:mr>" for row in ("12", "34")))
LIMIT = of("limLow", e("lim") + e("x→0", tag="lim"))


@pytest.mark.parametrize(
    ("xml", "tex"),
    [
        (r("x=−b±α"), r"x=-b\pm\alpha"),
        (r("αx≤β"), r"\alpha x\le\beta"),
        (r("50%&amp;#_"), r"50\%\&\#\_"),
        (r("𝑥∈ℝ"), r"x\in\mathbb{R}"),
        (r("if ", '<m:nor/>') + r("x"), r"\text{if }x"),
        (r("R", '<m:scr m:val="double-struck"/>'), r"\mathbb{R}"),
        (r("v", '<m:sty m:val="b"/>'), r"\mathbf{v}"),
        (FRACTION, r"\frac{a}{b}"),
        (of("f", e("a", tag="num") + e("2b", tag="den"), type="lin"), "a/{2b}"),
        (of("f", e("a", tag="num") + e("b", tag="den"), type="noBar"), r"{a \atop b}"),
        (of("d", f"<m:e>{of('f', e('n', tag='num') + e('k', tag='den'), type='noBar')}</m:e>"),
         r"\binom{n}{k}"),
        (of("rad", "<m:deg/>" + e("x+1"), degHide="1"), r"\sqrt{x+1}"),
        (of("rad", e("3", tag="deg") + e("x")), r"\sqrt[3]{x}"),
        (of("sSup", e("c") + e("2", tag="sup")), "c^2"),
        (of("sSup", e("ab") + e("10", tag="sup")), "{ab}^{10}"),
        (of("sSub", e("x") + e("i+1", tag="sub")), "x_{i+1}"),
        (of("sSubSup", e("x") + e("i", tag="sub") + e("2", tag="sup")), "x_i^2"),
        (of("sPre", e("6", tag="sub") + e("14", tag="sup") + e("C")), "{}_6^{14}C"),
        (of("nary", e("k=1", tag="sub") + e("n", tag="sup") + e("k"), chr="∑"), r"\sum_{k=1}^n k"),
        (of("nary", e("0", tag="sub") + e("∞", tag="sup") + e("f")), r"\int_0^{\infty} f"),
        (of("nary", e("i", tag="sub") + "<m:sup/>" + e("A"), chr="⋃", supHide="1"), r"\bigcup_i A"),
        (of("d", e("x+1")), "(x+1)"),
        (of("d", f"<m:e>{FRACTION}</m:e>"), r"\left( \frac{a}{b} \right)"),
        (of("d", e("x"), begChr="|", endChr="|"), "|x|"),
        (of("d", e("a", "b"), begChr="[", endChr=")", sepChr=","), "[a,b)"),
        (of("d", e("x"), begChr="{", endChr="}"), r"\{x\}"),
        (of("d", e("x"), begChr="⌊", endChr="⌋"), r"\lfloor x \rfloor"),
        (of("d", f"<m:e>{MATRIX}</m:e>"), r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}"),
        (of("d", f"<m:e>{MATRIX}</m:e>", begChr="|", endChr="|"),
         r"\begin{vmatrix} 1 & 2 \\ 3 & 4 \end{vmatrix}"),
        (MATRIX, r"\begin{matrix} 1 & 2 \\ 3 & 4 \end{matrix}"),
        (of("eqArr", e("x&amp;=1", "y&amp;=2")), r"\begin{aligned} x&=1 \\ y&=2 \end{aligned}"),
        (of("d", f"<m:e>{of('eqArr', e('1, x>0', '0'))}</m:e>", begChr="{", endChr=""),
         r"\begin{cases} 1, x>0 \\ 0 \end{cases}"),
        (of("func", f"<m:fName>{r('sin')}</m:fName>" + e("x")), r"\sin x"),
        (of("func", f"<m:fName>{r('rank')}</m:fName>" + e("A")), r"\operatorname{rank} A"),
        (of("func", f"<m:fName>{LIMIT}</m:fName>" + e("f")), r"\lim_{x\to 0} f"),
        (of("func", f"<m:fName>{of('sSup', e('cos') + e('2', tag='sup'))}</m:fName>" + e("x")), r"\cos^2 x"),
        (of("acc", e("v"), chr="\u20d7"), r"\vec{v}"),
        (of("acc", e("v")), r"\hat{v}"),
        (of("bar", e("x"), pos="top"), r"\overline{x}"),
        (of("bar", e("x")), r"\underline{x}"),
        (of("borderBox", e("x")), r"\boxed{x}"),
        (of("box", e("x")), "x"),
        (of("groupChr", e("x"), chr="⏞", pos="top"), r"\overbrace{x}"),
        (of("limLow", f"<m:e>{of('groupChr', e('x'))}</m:e>" + e("n", tag="lim")), r"\underbrace{x}_n"),
        (of("limUpp", e("=") + e("!", tag="lim")), r"\overset{!}{=}"),
        (of("phant", e("x"), show="0") + r("y"), "y"),
        (r("a") + f"<w:del>{r('b')}</w:del><w:ins>{r('c')}</w:ins>", "ac"),
    ],
    ids=range(47),
)  # fmt: skip
def test_an_equation_as_tex(xml: str, tex: str) -> None:
    body = f"<w:p><w:r><w:t>so </w:t></w:r><m:oMath>{xml}</m:oMath></w:p>"
    assert word_text(documents.docx(body=body)) == f"so ${tex}$"


def test_displayed_equations_stand_by_themselves() -> None:
    body = f"<w:p><m:oMathPara><m:oMath>{r('x')}</m:oMath><m:oMath>{r('y')}</m:oMath></m:oMathPara></w:p>"
    assert word_text(documents.docx("a", body=body + documents.paragraph("b"))) == "$$x$$\n\n$$y$$\n\nb"


def test_an_empty_equation() -> None:
    assert tex_of(ElementTree.Element("m-oMath")) == ""
