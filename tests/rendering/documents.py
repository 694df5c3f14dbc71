"""Texts for the properties: the examples of CommonMark, and documents of fragments that collide."""

import json
from pathlib import Path

from hypothesis import strategies as st

EXAMPLES: list[tuple[str, str]] = json.loads((Path(__file__).parent / "commonmark.json").read_text())[
    "examples"
]

LINES = [
    *(
        "para\n",
        "two\nlines\n",
        "\n",
        "\n\n",
        "# head\n",
        "## sub\n",
        "#### deep\n",
        "===\n",
        "---\n",
        "***\n",
        "=",
        "-",
        "#",
        "1.",
        "|",
        ">",
    ),
    *(
        "- a\n",
        "- b\n  c\n",
        "  - n\n",
        "1. x\n",
        "   cont\n",
        "- [ ] t\n",
        "- [x] t\n",
        "    code\n",
        "\t tab\n",
    ),
    *(
        "> q\n",
        "> > qq\n",
        "lazy\n",
        "```py\nx = 1\n",
        "```\n",
        "~~~\n",
        "  ```\n",
        "````\n",
        "``` \n",
        "```",
    ),
    *(
        "<div>\n",
        "</div>\n",
        "<!-- c\n",
        "-->\n",
        "<pre>\n",
        "<script>\n",
        "</script>\n",
        "<?php\n",
        "?>\n",
        "<br>",
    ),
    *(
        "a | b\n",
        "-|-\n",
        "|1|2|\n",
        "||\n",
        "`a` *b* **c**\n",
        "*un",
        "`un",
        "**bo",
        "~~s~~\n",
        "\\*",
        "&amp; &copy;\n",
    ),
    *(
        "x<kbd>y</kbd>",
        "x<sub>",
        "[foo] bar\n",
        "![i](http://h/x)\n",
        "http://x.org/y_z.\n",
        "http://x.org/__a__/*b*",
        "| x | y | z |\n|-|-|-|\n| 1 | 2 | 3 | 4 |\n",
        "www.a.b)\n",
        "m@x.org\n",
    ),
    *(
        "a  \nb\\\nc\n",
        " ",
        "    ",
        "\r\n",
        "\r",
        "\x0b",
        "\x0c",
        "\0",
        "\x1b[31m",
        "\x85",
        "\u202e",
        "\u2028",
        "\ufeff",
    ),
    *(
        "<details>\n",
        "</details>",
        "<summary>*s*</summary>",
        "> [!NOTE]\n",
        "> [!tip] t\n",
        "<b>",
        "</b>",
        "<B",
    ),
    *("**“x”**内", "**a:**b ", "~a ~b~", "日**", "（"),
    *("é ü 日本 😀\n", "\xa0", "\u05d0\u05d1\n", "\ud800"),
]
# Pieces that begin or end equations, and lines in them that mean something else to a Markdown parser.
MATHS = [
    *(
        "\\[",
        "\\]",
        "\\[\n",
        "\\]\n",
        "$$",
        "$$\n",
        "$",
        "$x$",
        "$a_1$",
        "\\(",
        "\\)",
        "\\(y*z\\)",
        "$5",
        "5",
        "$HOME/",
        "\\begin{align}\n",
        "\\end{align}\n",
        "\\begin{align*} x_1 \\end{align*}",
    ),
    *(
        "\\",
        "\\\\\n",
        "\\$",
        "x_1",
        "^2",
        "{",
        "}",
        " & ",
        "= 1\n",
        "\\frac{1}{2}",
        "\\foo",
        "\\begin{matrix}",
        "th",
    ),
    *(
        "> $$\n",
        "> \\[",
        "> x_1\n",
        "- $$\n",
        "  x\n",
        "  $$\n",
        "    $$\n",
        "| $|x|$ |\n",
        "**$x$**",
        "O$_2$n",
        "[$x$](http://u/\\(z\\))",
    ),
    *(
        "```math\n",
        "> ```math\n",
        "- ~~~math\n",
        "$`x_1`$",
        "```markdown\n",
        "`a|b`",
        "| `$|x` | b\n",
        "R$ 5 ",
        "€",
    ),
    *("\n\n", "```", "\nwords of prose\n", "\\text{some words", "\ny = 2\n"),
    *(
        "[$x$]: http://m\n",
        "[$x$] ",
        "[^$x$]: n\n",
        "[^$x$] ",
        "![$x$](http://i)",
        "# $x$\n",
        "`$x$` ",
        "a $x",
    ),
]
DEFINITIONS = [
    *(
        '[foo]: /url "t"\n',
        "[foo]: http://u\n",
        "[FOO]:\n",
        "/url\n",
        '"title"\n',
        "> [foo]: http://q\n",
        "[bar] [foo]\n",
    ),
    *("[bar]: <http://b>\n", "[^1]: note\n", "[^1] ref\n", "[^2]", "[^1]:\n", "    [^2]: n\n"),
]

maths_documents = st.lists(
    st.one_of(st.sampled_from(MATHS), st.sampled_from(LINES + DEFINITIONS)), min_size=1, max_size=18
).map("".join)
plain_documents = st.lists(st.sampled_from(LINES), min_size=1, max_size=14).map("".join)
documents = st.lists(st.sampled_from(LINES + DEFINITIONS * 2), min_size=1, max_size=14).map("".join)


def cuts_of(text: str) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, len(text)), max_size=12).map(lambda cuts: [*sorted(cuts), len(text)])
