"""Equations, whole and as they grow."""

import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.rendering.equation_scan import MAX_DISPLAY_CHARS, MAX_INLINE_CHARS
from chat.rendering.markdown import render
from chat.rendering.mathml import EQUATION_COST, MAX_MATHML_CHARS, mathml
from chat.rendering.maths import MATHS_BUDGET_CHARS

from .documents import cuts_of, maths_documents
from .page import faults, resumed, streamed

TEX = re.compile(r'<annotation encoding="application/x-tex">(.*?)</annotation>', re.DOTALL)
MANY = settings(max_examples=300)


def equations(text: str) -> list[str]:
    return TEX.findall("".join(render(text)))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("so $E = mc^2$.", ["E = mc^2"]),
        ("($x$), $y$; “$z$”", ["x", "y", "z"]),
        ("the $n$th, $k$-th and $i$s", ["n", "k", "i"]),
        ("能量$E=mc^2$是", ["E=mc^2"]),
        ("**$a$** and *$b$*", ["a", "b"]),
        ("$x$/$y$", ["x", "y"]),
        ("CO$_2$, H$_2$SO$_4$, R$^2$, 10$^{-3}$ m", ["_2", "_2", "_4", "^2", "^{-3}"]),
        (r"10$\mu$m, $20^\circ$C, $\Delta$T, 95$\%$", [r"\mu", r"20^\circ", r"\Delta", r"\%"]),
        ("CO$_2$(g), (CH$_3$)$_2$[1], $x^{2}$n", ["_2", "_3", "_2", "x^{2}"]),
        (r"\(x\) and \( y + 1 \)", ["x", "y + 1"]),
        (r"\[ a = b \]", ["a = b"]),
        ("The result:\n\n\\[\na = b\n\n+ c\n\\]\n\nEnd.", ["a = b\n\n+ c"]),
        ("$$\nx = 1\n\ny = 2\n$$\n", ["x = 1\n\ny = 2"]),
        ("\\[\n- a\n\n\n* b = c\n\n+ d\n\\]", ["- a\n\n\n* b = c\n\n+ d"]),
        ("> \\[\n> x\n>\n> y\n> \\]", ["x\n\ny"]),
        ("- a\n  $$\n  x\n\n  y\n  $$\n- b", ["x\n\n  y"]),
        (
            "\\begin{align}\na\n\n&= \\text{if so then}\n\\end{align}",
            ["\\begin{align}\na\n\n&amp;= \\text{if so then}\n\\end{align}"],
        ),
        ("$$a$$ in a line", ["a"]),
        ("$$\na\n=\nb\n$$", ["a\n=\nb"]),
        ("\\[\na_1 * b_1 \\\\\n---\n* c | d\n- e = f\n\\]", ["a_1 * b_1 \\\\\n---\n* c | d\n- e = f"]),
        ("> $$\n> x_1\n> = 2\n> $$", ["x_1\n= 2"]),
        ("- a\n\n  \\[\n  x = 1\n  \\]\n", ["x = 1"]),
        ("| a |\n|---|\n| $|x|$ |", ["|x|"]),
        ("# On $x$", ["x"]),
        (r"$\text{cost: \$5}$", [r"\text{cost: \$5}"]),
        (r"\\\(x\)", ["x"]),
        ("so\n\\begin{align}\na_1 \\\\\n* b\n\\end{align}", ["\\begin{align}\na_1 \\\\\n* b\n\\end{align}"]),
        (r"$$\begin{gather} a \end{gather}$$", [r"\begin{gather} a \end{gather}"]),
        ("> \\begin{equation*}\n> x\n> \\end{equation*}", ["\\begin{equation*}\nx\n\\end{equation*}"]),
    ],
)
def test_an_equation_is_found(text, found):
    assert equations(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 to $10.",
        "$5-$10, $5–$10, $5/$10, $5M or US$6",
        "I paid $20 and got 5$ back",
        "$5 or 10$",
        "**Price:** $100 | $200",
        "Set $HOME/$USER, $PATH:$HOME and $a, $b",
        "echo $HOME and then $",
        "The expressions ^a$ and ^b$, /^a$/, /^b$/, /^$/",
        "call $('#a').x($('b'))",
        "$foo->$bar",
        "$HOME_DIR/$USER_NAME or $A_B$C_D",
        r'"$a\n$b" and "x$a\n$b"',
        "^foo$|^bar$ and print$_;$_x",
        "A$^5 and US$_5",
        "a $ b $ c",
        "$ x $",
        "$x\ny$",
        "`$x$` and ``$y$ ` $z$``",
        "```\n$x$\n$$\ny\n$$\n\\[ z = 1 \\]\n```",
        "~~~tex\n\\[\nx = 1\n\\]\n~~~",
        "    $x$\n    \\(y\\)\n",
        "- ```\n  $$\n  x\n  $$\n  ```",
        r"\$x$ and \\[x] and \\(y)",
        "$$",
        "costs $$ here\n\nand $$ there",
        "$$\n\nThese are words.\n\n$$",
        "\\[\n\n```\nx = 1\n```\n\\]",
        "a \\[ b = c\n\nd \\]",
        "$$$x$$$",
        r"\[1\], \[ \], \[citation needed\]",
        r"\(see below\)",
        r"`\begin{align} x \end{align}` \(see below\)",
        "```tex\n\\begin{align}\nx\n\\end{align}\n```\n(a)",
        r"\begin{align} a (b) \end{gather}",
        r"\begin{document} (a) \end{document}",
        "<div>\n$x$\n</div>",
    ],
)
def test_text_that_is_no_equation_stays(text):
    html = "".join(render(text))

    assert "<math" not in html
    assert "$" in html or "[" in html or "(" in html


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("- a\n  ```\n  $$\n  x\n  $$\n  ```", "$$\nx\n$$\n"),
        ("> ```\n> \\[\n>   x\n> \\]\n> ```", "\\[\n  x\n\\]\n"),
        ("    $$\n    x\n    $$\n", "$$\nx\n$$\n"),
    ],
)
def test_code_keeps_its_dollars_and_its_indentation(text, code):
    assert f"<code>{code}</code>" in "".join(render(text))


def test_the_address_of_a_link_keeps_its_dollars_and_brackets():
    assert 'href="http://x.test/$y$"' in render("[a](http://x.test/$y$)")[0]
    assert 'href="http://x.test/(y)"' in render(r"[a](http://x.test/\(y\))")[0]


def test_the_source_of_what_cannot_be_read_stays_as_typed():
    assert render("a \\[\n\\foo_{1} * <b>\n\\] b") == [
        '<p dir="auto">a <span class="tex" dir="ltr">\\[\n\\foo_{1} * &lt;b&gt;\n\\]</span> b</p>'
    ]


def test_a_display_equation_scrolls_and_keeps_its_source():
    assert render("\\[ x^2 \\]") == [
        '<p dir="auto"><span class="equation" tabindex="0"><math display="block"><semantics><mrow><msup>'
        '<mi>x</mi><mn>2</mn></msup></mrow><annotation encoding="application/x-tex">x^2</annotation>'
        "</semantics></math></span></p>"
    ]


@pytest.mark.parametrize(
    "tex",
    [
        r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
        r"\begin{aligned} a &= b \\[4pt] &= c \end{aligned}",
        r"\begin{align} a &= b \\ c &= d \end{align}",
        r"\begin{split} a &= b \\ &= c \end{split}",
        r"\begin{alignat}{2} a &= b & c &= d \end{alignat}",
        r"\begin{eqnarray} a &=& b \\ c &=& d \end{eqnarray}",
        r"\begin{cases} x & \text{if } x \ge 0 \\ -x & \text{otherwise} \end{cases}",
        r"\begin{array}{|c|c|} \hline a & b \\ \hline \end{array}",
        r"\left(\begin{smallmatrix} a & b \\ c & d \end{smallmatrix}\right)",
        r"\frac{-b \pm \sqrt{b^2 - 4ac}}{2a}",
        r"\sum_{\substack{i=1 \\ i \neq j}}^{n} \prod \int_0^\infty \oint",
        r"\operatorname*{arg\,max}_{\theta} \mathcal{L}(\boldsymbol{\theta})",
        r"\hat{x} \vec{v} \bar{y} \tilde{z} \widetilde{abc} \overline{AB} \underbrace{a+b}_{n}",
        r"\text{a_b is 100% of $x$} \textbf{bold}",
        r"\boxed{E = mc^2} \cancel{x}",
        r"x = y \tag{1} \label{eq:1}",
        r"\left\langle \psi \middle| \phi \right\rangle \alpha \Omega \varepsilon \hbar",
        r"a \raisebox{0.5ex}{x} \hspace{2cm} \genfrac{[}{]}{0.8pt}{0}{a}{b}",
    ],
)
def test_equations_of_models_become_mathml(tex):
    html = mathml(tex, display=True)

    assert html is not None
    assert " style=" not in html
    assert "<menclose" not in html


def test_no_equation_is_numbered_unless_it_says_so():
    assert "(1)" not in str(mathml(r"\begin{align} a &= b \\ c &= d \end{align}", display=True))
    assert "(7)" in str(mathml(r"x = y \tag{7}", display=True))
    assert "(7)" in str(mathml(r"\begin{matrix} x \end{matrix} \tag{7}", display=True))


@pytest.mark.parametrize(
    "tex",
    [
        r"\newcommand{\a}{xx}\a",
        r"\def\a{x}\a",
        r"\href{javascript:alert(1)",
        r"\unknown",
        r"\frac{1}",
        "{" * 200 + "x" + "}" * 200,
        r"\sqrt" * 150 + " x",
        r"\frac{" * 60 + "1" + "}{2}" * 60,
        "x" + "'" * (MAX_MATHML_CHARS // 10),
        r"\raisebox{8em}{\text{over the question}}",
        r"\raisebox{-2em}{\raisebox{-2em}{under the reply}}",
        r"\genfrac{}{}{9999em}{0}{a}{b}",
    ],
)
def test_excessive_equations_are_refused(tex):
    assert mathml(tex, display=False) is None


def test_the_converter_is_loaded_with_the_first_equation():
    code = "import sys; from chat.rendering import markdown; markdown.render(sys.argv[1])"
    code += "; print('math_core' in sys.modules)"
    for text, loaded in (("$5 to $10", "False"), ("$x$", "True")):
        completed = subprocess.run(
            [sys.executable, "-c", code, text], capture_output=True, text=True, check=True
        )
        assert completed.stdout.strip() == loaded


def test_a_blank_line_in_an_equation_begins_a_row():
    assert str(mathml("x = 1\n\ny = 2", display=True)).count("<mtr>") == 2
    assert str(mathml("\\begin{align}\na\n\n= b\n\\end{align}", display=True)).count("<mtr>") == 1
    assert "<mtable" not in str(mathml("\\frac{x\n\n}{y}", display=True))


def test_a_long_equation_stays_source():
    assert equations(f"$x^{{{'1' * MAX_INLINE_CHARS}}}$") == []
    assert equations(f"\\[ x^{{{'1' * MAX_DISPLAY_CHARS}}} \\]") == []


def test_beyond_the_limit_equations_stay_source():
    found = equations("$x_1$ " * (MATHS_BUDGET_CHARS // 10))

    assert len(found) == MATHS_BUDGET_CHARS // (len("$x_1$") + EQUATION_COST)


def test_a_text_cannot_pretend_to_be_a_mask():
    assert equations("$\U0010f801$ and $x$ and $\U0010f801\U0010f800$") == ["x"]


def test_words_that_disguise_code_are_shown_in_an_equation():
    assert "\u202e" not in render("$x^\u202e2$")[0]
    assert "\u2066" not in render("$x^\u20662$")[0]


@MANY
@given(st.data(), maths_documents)
def test_equations_end_the_same_in_whatever_pieces_they_arrive(data, text):
    assert streamed(text, data.draw(cuts_of(text))) == render(text, "m")


@MANY
@given(maths_documents)
def test_equations_end_the_same_one_character_at_a_time(text):
    assert streamed(text, list(range(len(text) + 1))) == render(text, "m")


@MANY
@given(st.data(), maths_documents)
def test_a_reader_at_any_position_sees_the_equations(data, text):
    cuts, position = data.draw(cuts_of(text)), data.draw(st.integers(0, len(text)))
    assert resumed(text, cuts, [position]) == [render(text, "m")]


@MANY
@given(maths_documents)
def test_equations_leave_one_element_a_block_and_no_mask(text):
    blocks = render(text, "m")

    assert faults(blocks) == []
    assert not any(character >= "\U0010f800" for character in "".join(blocks))
