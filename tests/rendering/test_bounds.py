"""No text takes long to render, and none takes more than its share when it is twice as long."""

import gc
from html import escape
from time import thread_time

import pytest

from chat.rendering.blocks import Blocks
from chat.rendering.markdown import _Lines, render

LONG = 60_000  # characters
SECONDS = 1.0  # ten times what it takes here when nothing else runs
REPEATED = [
    "[",
    "![",
    "[a](",
    "*",
    "*a ",
    "a**b",
    "> ",
    ">",
    "&",
    "`",
    "`a``",
    "<",
    "<a ",
    "x <!--",
    "x <?",
    "~",
    "- ",
]
REPEATED += [
    "1. ",
    "* + - ",
    "[a]",
    "[^",
    "[^1]",
    "[^1]: ",
    "# a\n",
    "```\n",
    "- a\n",
    "a\n",
    "a  \n",
    "<div>\n",
    "x<kbd>",
]
REPEATED += [
    "<kbd>x</kbd>",
    "&amp;",
    "\x1b",
    "\u202e",
    "_*",
    "[a](b ",
    "http://",
    "www.",
    "a.",
    "a@",
    "a@b.c ",
    "|",
    "|-",
]
REPEATED += [
    "a|b\n-|-\n",
    "|`",
    "http://a.b/) ",
    "\u05d0",
    "é",
    "\r",
    "[a]: b\n",
    "  - a\n",
    "\\",
    "``````\n- ",
]
REPEATED += [
    *("$", "$$", "\\(", "\\[", "\\[\n", "\\(x\\)", "$x_1$ ", "$$\nx\n", "$x\\frac{", "`$", "$a b ", "a $x\n"),
    *("\\(\\(\\)", "\\(aa bb \\( ", "> $$\n", "- $$\n", "$x''$ ", "$\\sqrt\\sqrt\\sqrt x$ ", "$$ a\n\n"),
]
AWKWARD = {
    "nested fractions": lambda n: "$" + "\\frac{" * (n // 12) + "1" + "}{2}" * (n // 12) + "$",
    "nested braces in an equation": lambda n: "\\[" + "{" * (n // 2) + "x" + "}" * (n // 2) + "\\]",
    "many fractions nested as deep as allowed": lambda n: (
        ("$" + "\\frac{" * 30 + "1" + "}{2}" * 30 + "$ ") * (n // 330)
    ),
    "many blocks behind many equations": lambda n: "$x$ " * min(1_800, n // 5) + "\n\n" + "***\n" * (n // 4),
    "nested brackets": lambda n: "[" * (n // 2) + "a" + "]" * (n // 2),
    "runs of backticks": lambda n: "".join("`" * length + " " for length in range(1, int((2 * n) ** 0.5))),
    "an address of full stops": lambda n: "http://a.b/" + "." * n,
    "an address of brackets": lambda n: "http://a.b/" + ".)" * (n // 2),
    "an address of entities": lambda n: "http://a.b/" + "&a;" * (n // 3),
    "an address for an e-mail": lambda n: "a@" + "b." * (n // 2),
    "an address that claims a host": lambda n: "[" + "a." * (n // 2) + "](http://b.test)",
    "a table of many columns": lambda n: "|" + "a|" * (n // 4) + "\n|" + "-|" * (n // 4) + "\n",
    "short rows of a wide table": lambda n: "|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n" + "a\n" * (n // 2),
    "short rows of a table too wide": lambda n: (
        "|" + "a|" * (n // 8) + "\n|" + "-|" * (n // 8) + "\n" + "a\n" * (n // 4)
    ),
    "ever deeper lists": lambda n: "\n".join("  " * depth + "- a" for depth in range(int(n**0.5))),
    "lines lazily continued": lambda n: "> " * int(n**0.5) + "a\n" + "b\n" * (n // 4),
    "one definition used often": lambda n: "[a]: http://b/" + "x" * (n // 2) + "\n\n" + "[a]" * (n // 6),
    "a long line of code": lambda n: "```console\n" + "a" * n,
    "code that is slow to read": lambda n: "```csharp\n" + "a\n" * (n // 2),
    "much code that is slow to read": lambda n: ("```matlab\n" + " \n" * 140 + "a\n```\n") * (n // 300),
}
TEXTS = {repr(piece): lambda n, piece=piece: piece * (n // len(piece)) for piece in REPEATED} | AWKWARD


def seconds(work) -> float:
    """Return the CPU time of `work`, without the collections of garbage: these walk all objects of the tests'
    process, so that a text of 100,000 tokens seems to cost three or four times as much as its half. There is
    none before `work` either: 700 of them would take longer than all that is measured.
    """
    gc.disable()
    try:
        began = thread_time()
        work()
        return thread_time() - began
    finally:
        gc.enable()


def is_linear(text_of, work) -> bool:
    """Return True if a long text takes little time, and not much more than twice that of its half.

    Once in three times suffices, because other work on the machine disturbs this one.
    """
    for _ in range(3):
        half, whole = (seconds(lambda n=n: work(text_of(n))) for n in (LONG // 2, LONG))
        if whole < SECONDS and whole < 3 * max(half, 0.005):
            return True
    return False


def flush(text: str) -> None:
    blocks = Blocks()
    blocks.feed(text)
    blocks.flush()


@pytest.mark.parametrize("name", TEXTS)
def test_a_long_text_is_rendered_in_time_however_awkward_it_is(name):
    assert is_linear(TEXTS[name], render)


@pytest.mark.parametrize("name", TEXTS)
def test_so_is_one_that_still_grows(name):
    assert is_linear(TEXTS[name], flush)


@pytest.mark.parametrize(
    ("piece", "length"),
    [
        *(("```\n", 800_000), ("[^1]: ", 400_000), ("$x_1$ ", 800_000), ("\\(", 800_000), ("$", 800_000)),
        *(("\\[\n", 800_000), ("$$\nx\n", 800_000), ("$\\frac{", 800_000)),
    ],
)
def test_twice_as_many_blocks_cost_twice_as_much(piece, length):
    """Equations, too. It would be four times if each block searched the whole text or its whole line."""

    def ratio() -> float:
        half, whole = (seconds(lambda n=n: render(piece * (n // len(piece)))) for n in (length // 2, length))
        return whole / half

    assert any(ratio() < 3 for _ in range(3))  # other work on the machine disturbs this one


class Source(bytes):
    """A text that counts what is copied from it."""

    copied = 0

    def __getitem__(self, part):
        found = super().__getitem__(part)
        self.copied += len(found) if isinstance(found, bytes) else 1
        return found


def test_many_blocks_on_one_line_do_not_copy_the_line():
    source = Source(b"[^1]: " * 20_000)
    lines = _Lines(source)
    for begin in range(0, len(source), 6):
        lines.of(begin, begin + 6, deciding=1)
        lines.parses_alone(begin)
    assert source.copied <= 2 * len(source)


def test_the_measure_would_see_a_square():
    """Accept one success in three, as in the measure itself."""

    def square(text: str) -> None:
        for at in range(0, len(text), 8):
            text.count("b", at // 2)

    assert not all(is_linear(lambda n: "a" * n, square) for _ in range(3))


def test_cost_per_block_is_independent_of_length():
    paragraph = "Some **words** of `code` and a [link](http://x.test).\n\n"

    def stream(count: int) -> None:
        blocks = Blocks()
        for _ in range(count):
            for begin in range(0, len(paragraph), 20):
                blocks.feed(paragraph[begin : begin + 20])
                blocks.flush()
        blocks.finish()

    stream(50)
    short, long = (min(seconds(lambda: stream(count)) for _ in range(3)) for count in (200, 800))  # noqa: B023
    assert long < 4 * 1.6 * short


def test_an_open_fence_costs_what_is_added_to_it():
    def stream(count: int) -> None:
        blocks = Blocks()
        blocks.feed("```py\n")
        for _ in range(count):
            blocks.feed("x = 1  # one\n")
            blocks.flush()

    stream(50)
    short, long = (min(seconds(lambda: stream(count)) for _ in range(3)) for count in (2_000, 8_000))  # noqa: B023
    assert long < 4 * 2 * short


def test_nesting_ends_at_the_limit():
    [html] = render("> " * 150 + "deep")
    assert html.count("<blockquote") == 100
    assert "deep" in html

    assert render("x<kbd>" * 150)[0].count("<kbd>") == 99

    [html] = render("- " * 150 + "[ ] deep")
    assert html.count("<ul") == 50
    assert "deep" in html


def test_a_long_address_is_not_inserted_without_end():
    blocks = Blocks()
    blocks.feed("[a]: http://b/" + "x" * 1_000 + "\n\nbetween\n\nmore\n\n")
    blocks.flush()
    blocks.feed("[a]" * 1_000)

    [(_, html)] = [patch for patch in blocks.flush() if "href" in patch[1]]
    assert html.count("href") < 100


def test_a_table_that_is_too_wide_is_shown_as_it_was_typed():
    row = "|" + "<b>|" * 101
    [html] = render(f"{row}\n|{'-|' * 101}\n{row}\n")

    assert html.startswith('<p class="html"')
    assert html.count("|&lt;b&gt;|") > 90


@pytest.mark.parametrize("html", ["<div>", "<details>", "<!-- a -->", "<b>"])
def test_html_below_the_deepest_level_is_text(html):
    [shown] = render("- " * 150 + f"{html}\n{'  ' * 150}b")
    assert escape(html, quote=False) in shown
