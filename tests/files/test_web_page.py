"""The text of web pages: what a browser shows, with the addresses of links, and without what it hides."""

import random

import pytest

from chat.files.confined.documents import cleaned
from chat.files.confined.html_blocks import numeral
from chat.files.confined.web_page import html_text


def text(page: str, address: str = "") -> str:
    return cleaned(html_text(page, address))


TITLE = [
    (
        "<title>The baths</title><meta name=description content='Open daily'><p>7 to 20.",
        "The baths\n\nOpen daily\n\n7 to 20.",
    ),
    ("<head><title>T</title><body><p>x</p></body>", "T\n\nx"),
    ("<title>Install</title><h1>Install</h1>now", "# Install\n\nnow"),
    (
        "<meta property=og:title content=Shared><meta property=og:description content=Of>x",
        "Shared\n\nOf\n\nx",
    ),
    ("<svg><title>Icon</title></svg>x", "[Picture: Icon]x"),
    (
        "<!doctype html><html><head><title>R</title><style>p{}</style><p>First.<p>Second.</html>",
        "R\n\nFirst.\n\nSecond.",
    ),
    (
        "<ul><li>one<li>two<table><tr><td>a<td>b<tr><td>c<td>d",
        "- one\n- two\n\n  | a | b |\n  | --- | --- |\n  | c | d |",
    ),
    ("x<p>y", "x\n\ny"),
]
SPACE = [
    ("<p>a\n  b&nbsp;c</p><div>d</div><div>e</div>", "a b\xa0c\n\nd\ne"),
    ("<div>a<br></div><div><div>b</div></div>", "a\nb"),
    ("a<br><br>b<hr>c<wbr>d", "a\n\nb\n\n---\n\ncd"),
    ("<pre>\nfor x:\n    y\n\n\tz</pre>", "```\nfor x:\n    y\n\n\tz\n```"),
    ("<pre>a<br>  <b>b</b><span> </span>c</pre>", "```\na\n  b c\n```"),
    ("<pre><code class='hl language-c++'>```</code></pre>", "````c++\n```\n````"),
    ("<ul><li>a<pre>x\n  y</pre></ul>", "- a\n\n  ```\n  x\n    y\n  ```"),
    ("<textarea>\n a\n   b</textarea>", " a\n   b"),
    ("&#x1f;a&#x1e;b&amp;&lt;&eacute;&#8364;", "ab&<é€"),
]
LINKS = [
    ("<a href='https://e.org/g'>guide</a>.", "guide (https://e.org/g)."),
    (
        "<a href='https://www.e.org/'>e.org</a> <a href='#x'>up</a> <a href='javascript:x'>go</a> <a>n</a>",
        "e.org up go n",
    ),
    (
        "<a href='mailto:a@e.org?subject=x'>write</a> <a href='tel:+45 12'>call</a> <a href='data:,x'>d</a>",
        "write (a@e.org) call (+45 12) d",
    ),
    ("<a href=/b>b</a> <a href=' a\n/b c '>c</a>", "b (/b) c (a/b%20c)"),
    ("<base href='https://e.org/a/'><a href='../b'>b</a>", "b (https://e.org/b)"),
    ("<a href='https://e.org/x'><h2>Head</h2></a>", "## Head (https://e.org/x)"),
    ("<a href='https://e.org/x'><img alt='Map'></a>", "[Picture: Map] (https://e.org/x)"),
    ("<a href='https://e.org/x'><i class=icon></i></a>y", "y"),
    ("<a href='http://[x'>y</a>", "y (http://[x)"),
    ("<map><area alt=North href=https://e.org/n></map>", "North (https://e.org/n)"),
]
HIDDEN = [
    "<p style='display:none'>no</p>",
    "<p style='color:red; DISPLAY : none !important'>no</p>",
    "<p style='visibility:hidden'>no</p>",
    "<p hidden>no</p>",
    "<div hidden=''><p>no</p></div>",
    "<i class=icon aria-hidden=true>no</i>",
    "<script>no</script><style>no</style><template>no</template><noscript>no</noscript>",
    "<dialog>no</dialog>",
    "<input type=hidden value=no><input type=password value=no>",
    "<datalist><option>no</datalist><canvas>no</canvas><video>no</video><!-- no -->",
    "<style>.a, #b > i {color:red; display:none}</style><p class=a>no</p><p id=b><i>no</i></p>",
    "<table><tr hidden><td>no<td>no<tr style='display:none'><td>no</table>",
    "<ul><li hidden>no</ul>",
    "<p aria-hidden=false style='display:none'>no</p>",
]
SHOWN = [
    "<main aria-hidden=true>yes</main>",
    "<p style='display:block'>yes</p>",
    "<p style='background:url(display:none.png)'>yes</p>",
    "<p hidden=until-found>yes</p>",
    "<dialog open>yes</dialog>",
    "<body style='visibility:hidden'>yes</body>",
    "<style>@media print{.a{display:none} .b{display:none}}</style><p class=a>yes</p>",
    "<style>.a{display:none} .a.on{display:block}</style><p class='a on'>yes</p>",
    "<style>p{display:none} p:first-of-type{display:block}</style><p>yes",
    "<style>p{display:none} input:checked+p{display:block}</style><input hidden type=radio checked><p>yes",
    "<x-y><template shadowrootmode=open><p>yes</p></template></x-y>",
    "<iframe srcdoc='<p>yes</p>'></iframe>",
    "<style>.a:hover{display:none} ..{display:none} @x;</style><p class=a>yes</p>",
    "<white>yes</white>",
    "<details><p>yes</p></details>",
    "<object>yes</object>",
    "<button>yes</button>",
    "<output>yes</output>",
]
LISTS = [
    ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
    ("<ol start=9><li>a<li>b</ol>", "9. a\n10. b"),
    ("<ol reversed><li>a<li>b</ol>", "2. a\n1. b"),
    ("<ol><li value=4>a<li>b</ol>", "4. a\n5. b"),
    ("<ol type=a start=26><li>x<li>y</ol>", "z. x\naa. y"),
    ("<ol type=I start=4><li>x</ol>", "IV. x"),
    ("<ol style='list-style-type: lower-roman'><li>x<li>y</ol>", "i. x\nii. y"),
    ("<ul><li>a<ol><li>b<ul><li>c</ul></ol><li>d</ul>", "- a\n  1. b\n     - c\n- d"),
    ("<ul><ul><li>a</ul></ul>", "  - a"),
    ("<ol><li><p>a</p><p>b</p></ol>", "1. a\n\n   b"),
    ("<dl><dt>T<dd>D<dd><p>E</p><p>F</p></dl>", "T\n: D\n: E\n\n  F"),
    ("<ul><li><input type=checkbox checked> a<li><input type=checkbox> b</ul>", "- [x] a\n- [ ] b"),
]
TABLES = [
    (
        "<table><caption>C</caption><tr><th>a<th>b<tr><td>1<td>x|y</table>",
        "C\n\n| a | b |\n| --- | --- |\n| 1 | x\\|y |",
    ),
    ("<table><tr><th colspan=2>w<tr><td>1<td>2</table>", "| w | w |\n| --- | --- |\n| 1 | 2 |"),
    ("<table><tr><td rowspan=2>r<td>1<tr><td>2</table>", "| r | 1 |\n| --- | --- |\n| r | 2 |"),
    (
        "<table><thead><tr><th>a<th>b</thead><tbody><tr><td><p>1</p><p>2</p><td></tbody></table>",
        "| a | b |\n| --- | --- |\n| 1 2 | |",
    ),
    (
        "<table><tfoot><tr><td>f<td>3<tbody><tr><td>b<td>2<thead><tr><th>h<th>1</table>",
        "| h | 1 |\n| --- | --- |\n| b | 2 |\n| f | 3 |",
    ),
    ("<table role=presentation><tr><td>a<td>b</table>", "a\n\nb"),
    ("<table><tr><td><table><tr><td>a<td>b</table><td>c</table>", "| a | b |\n| --- | --- |\n\nc"),
    ("<table><tr><td><pre>1\n2</pre><td><pre>x\ny</pre></table>", "```\n1\n2\n```\n\n```\nx\ny\n```"),
    ("<table><tr><td colspan=x>a<td rowspan=0>b</table><table></table>", "| a | b |\n| --- | --- |"),
]
KEPT = [
    ("<div style='white-space: pre-wrap'>a\n  b</div>", "a\n  b"),
    (
        "x <script type='math/tex'>y^2</script><script type='math/tex; mode=display'>z</script>",
        "x $y^2$\n$$z$$",
    ),
    ("<p>x <span class=MathJax>y2</span><script type='math/tex'>y^2</script></p>", "x $y^2$"),
    (
        "x <mjx-container><mjx-math aria-hidden=true>y</mjx-math><math><mi>y</mi></math></mjx-container>.",
        "x $y$.",
    ),
    ("<img src=a title='A cat'>", "[Picture: A cat]"),
]
FORMS = [
    ("Name <input value='Ingrid  H'>!", "Name Ingrid H !"),
    ("<input type=radio checked>Yes<input type=radio>No", "[x] Yes [ ] No"),
    ("<select><option>a<option selected>b</select>", "b"),
    ("<select><option>a<option>b</select>", "a"),
    ("<select multiple><option selected>a<option>b<option selected>c</select>", "a, c"),
    ("<select><optgroup label=G><option selected label=L></select>", "L"),
    ("<input type=submit value=Send> <input type=image alt=Go>", "Send [Picture: Go]"),
    ("<progress value=7 max=9></progress> <meter value=1>1 of 9</meter>", "7/9 1 of 9"),
]
WORDS = [
    ("x<sup>2</sup> H<sub>2</sub>O SO<sub>4</sub><sup>2−</sup>", "x² H₂O SO₄²⁻"),
    (
        "e<sup>x+1</sup> a<sub>ij</sub> b<sup>k</sup> 10<sup>−9</sup> a<sub>n+1</sub>",
        "e^(x+1) a_ij b^k 10⁻⁹ a_(n+1)",
    ),
    ("1<sup>st</sup> M<sup>lle</sup> word<sup><a href='#n'>[1]</a></sup>", "1st Mlle word[1]"),
    ("of 120<sup>1,2</sup>", "of 120^(1,2)"),
    ("<span style='color:red; text-decoration: line-through'>50 €</span> 40 €", "~~50 €~~ 40 €"),
    ("<p style=text-decoration-line:line-through>50<p>40", "~~50~~\n\n40"),
    ("<s><font style=text-decoration:line-through>50</font></s> 40", "~~50~~ 40"),
    ("<div style=text-decoration:line-through><p>50<p>40</div>", "50\n\n40"),
    ("<a style=text-decoration:underline>50</a> <u style=text-decoration:none>40</u>", "50 40"),
    ("<style>.old, s b{text-decoration:line-through}</style><b class=old>50</b> <b>40</b>", "~~50~~ 40"),
    ("<style>.a{text-decoration:line-through} b.a{text-decoration:none}</style><b class=a>50</b>", "50"),
    ("<style>a{text-decoration-line: line-through}</style><a style=text-decoration:none>50</a>", "50"),
    ("<style>.done{text-decoration:line-through}</style><ul><li class=done>a<li>b</ul>", "- ~~a~~\n- b"),
    (
        "<style>.x{text-decoration:line-through}</style><a class=x href=https://e.org/y>a</a>",
        "~~a~~ (https://e.org/y)",
    ),
    ("<table><tr><td style='text-decoration: line-through'>5<td>6</table>", "| ~~5~~ | 6 |\n| --- | --- |"),
    ("<del>50</del> <ins>40</ins> <s> x </s>", "~~50~~ 40 ~~x~~"),
    ("<q>a</q> <ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>字", "“a” 漢(かん)字"),
    ("<blockquote><p>a</p><blockquote>b</blockquote></blockquote>", "> a\n>\n> > b"),
    (
        "<figure><img src=a.png alt='A  cat'><figcaption>Fig. 1</figcaption></figure><img alt=''>",
        "[Picture: A cat]\nFig. 1",
    ),
    (
        "<iframe src=https://v.org title='A film'></iframe><audio src=a.mp3></audio>",
        "[Frame: A film]\n[Audio: a.mp3]",
    ),
    ("<svg><style>x</style><defs><text>no</text></defs><text>10 <tspan>%</tspan></text></svg>", "10 %"),
    (
        "<frameset><frame src=a.html title=Left><frame src=b.html></frameset>",
        "[Frame: Left]\n[Frame: b.html]",
    ),
    ("<details><summary>More</summary>inside</details>", "More\ninside"),
]
XHTML = '<html xmlns="http://www.w3.org/1999/xhtml"><head>'
MENDED = [
    (f"{XHTML}<script src='a.js'/><title>T</title></head><body><a id='x'/><p>x</p></body></html>", "T\n\nx"),
    (
        f'<?xml version="1.0"?>{XHTML}<title/></head><body><div class="/>"/><p>x<br/>y</p></body></html>',
        "x\ny",
    ),
    (f"{XHTML}<title>T</title></head><body><p><![CDATA[a < b & c]]></p></body></html>", "T\n\na < b & c"),
    ("<div/>a<p>b", "a\n\nb"),
    ("<p>x <?php echo 1 ?>y<math><mi>z</mi><?pi?></math>", "x y$z$"),
]


@pytest.mark.parametrize(
    ("page", "wanted"), [*TITLE, *SPACE, *LINKS, *LISTS, *TABLES, *KEPT, *FORMS, *WORDS, *MENDED]
)
def test_a_page_is_read_as_it_is_shown(page: str, wanted: str) -> None:
    assert text(page) == wanted


@pytest.mark.parametrize("page", HIDDEN)
def test_what_a_browser_hides_is_left_out(page: str) -> None:
    assert text(f"<p>a</p>{page}<p>b</p>").split() == ["a", "b"]


@pytest.mark.parametrize("page", SHOWN)
def test_what_a_browser_shows_is_kept(page: str) -> None:
    assert text(page) == "yes"


def test_relative_links_are_those_of_the_page() -> None:
    assert text("<a href='b?c'>x</a>", "https://e.org/a/") == "x (https://e.org/a/b?c)"


@pytest.mark.parametrize(
    ("number", "form", "wanted"),
    [
        (1, "1", "1"),
        (703, "A", "AAA"),
        (1_994, "I", "MCMXCIV"),
        (0, "a", "0"),
        (-1, "i", "-1"),
        (4_000, "i", "4000"),
    ],
)
def test_numerals(number: int, form: str, wanted: str) -> None:
    assert numeral(number, form) == wanted


EQUATIONS = [
    ("<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>", "$E=mc^{2}$"),
    ("<mfrac><mrow><mo>−</mo><mi>b</mi></mrow><mn>2</mn></mfrac>", r"$\frac{-b}{2}$"),
    (
        "<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt><mroot><mi>x</mi><mn>3</mn></mroot>",
        r"$\sqrt{x+1}\sqrt[3]{x}$",
    ),
    (
        "<munderover><mo>∑</mo><mrow><mi>k</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>k</mi>",
        r"$\sum_{k=1}^{n}k$",
    ),
    ("<munder><mi>lim</mi><mi>x</mi></munder><mi>sin</mi><mo>&#x2061;</mo><mi>x</mi>", r"$\lim_{x}\sin x$"),
    (
        "<mover accent=true><mi>v</mi><mo>→</mo></mover><msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>",
        r"$\vec{v}x_{1}^{2}$",
    ),
    (
        "<mover><mi>x</mi><mo>¯</mo></mover><msup><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow><mi>n</mi></msup>",
        r"$\overline{x}{(a)}^{n}$",
    ),
    ("<mfenced open='['><mi>a</mi><mi>b</mi></mfenced>", "$[a,b)$"),
    (
        "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd>3</mtd></mtr></mtable>",
        r"$\begin{matrix}1 & 2 \\ 3\end{matrix}$",
    ),
    ("<mi>if</mi><mtext>for all </mtext><mo>{</mo><mn>5</mn><mo>%</mo>", r"$\mathrm{if}\text{for all}\{5\%$"),
    (
        "<mmultiscripts><mi>C</mi><none/><mo>+</mo><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>",
        "${}_{6}^{14}C^{+}$",
    ),
    (
        "<semantics><mi>x</mi><annotation encoding='application/x-tex'>a&lt;1</annotation></semantics>",
        "$a<1$",
    ),
    ("<semantics><mi>x</mi><annotation-xml><mi>y</mi></annotation-xml></semantics>", "$x$"),
    ("<mfrac><mi>a</mi></mfrac><mphantom><mi>b</mi></mphantom>", "$a$"),
]


@pytest.mark.parametrize(("inside", "wanted"), EQUATIONS)
def test_an_equation_is_written_as_tex(inside: str, wanted: str) -> None:
    assert text(f"<math>{inside}</math>") == wanted


def test_an_equation_keeps_what_its_author_wrote() -> None:
    assert text("<math display=block alttext='{\\displaystyle x^2}'><mi>y</mi></math>") == "$$x^2$$"
    katex = "<span><math><mi>y</mi></math><span aria-hidden=true>y</span></span>"
    assert text(f"a {katex} b <math></math>c") == "a $y$ b c"


@pytest.mark.parametrize(
    "tag", ["div", "b", "ul><li", "table><tr><td", "blockquote", "math><mrow", "q><del><sup"]
)
def test_deep_elements_keep_their_text(tag: str) -> None:
    assert "deep" in text(f"<{tag}>" * 2_000 + "deep")


@pytest.mark.parametrize("seed", range(30))
def test_damaged_pages_are_read(seed: int) -> None:
    chance = random.Random(seed)
    pages = [page for page, _wanted in (*TITLE, *LISTS, *TABLES, *MENDED)] + HIDDEN
    page = list("".join(chance.sample(pages, 5)))
    for _ in range(20):
        page[chance.randrange(len(page))] = chance.choice("<>/\"'= \n&a\0")
    assert isinstance(text("".join(page) + "<p>end"), str)
