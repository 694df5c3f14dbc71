"""Code blocks."""

import re
from pathlib import Path

import pytest

from chat.rendering import code_blocks
from chat.rendering.code_blocks import TOKEN_CLASSES, Budget, extension_of, language_of
from chat.rendering.markdown import render

STYLES = (Path(__file__).parents[2] / "static/css/chat.css").read_text()


def highlighted(code: str, language: str) -> str:
    return code_blocks.highlighted(code, language, Budget())


def plain(html: str) -> str:
    return re.sub("<[^>]+>", "", html)


def test_code_of_a_known_language_is_marked():
    assert highlighted("x = 1  # one\n", "python") == (
        'x = <span class="n">1  </span><span class="c"># one\n</span>'
    )


@pytest.mark.parametrize("language", ["", "nonsense", "text", "html+django", "../../etc", "x" * 100])
def test_code_of_any_other_stays_plain(language):
    assert highlighted("if x < 1: '&'\n", language) == "if x &lt; 1: '&amp;'\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("Dear Ms Berger,\n\nI write about it.\n", True), ("[Your Name]\n[Your Street]\n", True),
        ("Subject: Smith & Sons\n", True), ("親愛なる田中様\n", True), ("¡Hola, Ana!\n", True),
        ("A" + " word" * 100, True), ("Dear Ms Berger,", False),  # the line may go on
        ("npm install it\n", False), ("Name  Age\nAnna   40\n", False), ("Notes/\n├── a\n", False),
        ("A --> B\n", False), ("Traceback (most recent call last):\n", False), ("\nDear Sir,\n", False),
    ],
)  # fmt: skip
def test_the_first_line_tells_a_letter_from_code(code, expected):
    [html] = render(f"```\n{code}```" if code.endswith("\n") else f"```\n{code}")
    assert html.startswith('<figure class="code words">' if expected else '<figure class="code">')


def test_the_text_stays_what_it_is():
    code = "\n\n  <?php\n\techo 'a & b';  \n\ufeff\u2028 x\n\n"
    for language in (
        "php",
        "python",
        "js",
        "html",
        "diff",
        "console",
        "yaml",
        "c",
        "rust",
        "sql",
        "json",
        "bash",
    ):
        assert (
            plain(highlighted(code, language)).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
            == code
        )


def test_php_is_known_without_its_mark():
    assert '<span class="k">echo' in highlighted("echo 1;", "php")
    assert '<span class="k">echo' in highlighted("<p><?php echo 1;", "php")


def test_long_code_and_endless_lines_stay_plain():
    assert "<span" in highlighted("x = 1\n" * 5_000, "python")
    assert "<span" not in highlighted("x = 1\n" * 10_000, "python")
    assert "<span" not in highlighted("x = 1 " * 200, "python")
    assert "<span" not in highlighted("x = 1" + "\n" * 300, "python")


def test_slow_highlighting_ends_in_plain_text(monkeypatch):
    monkeypatch.setattr(code_blocks, "NOISE_SECONDS", -1)
    code = "x = 1\n" * 50

    html = code_blocks._coloured.__wrapped__(code, "python")
    assert plain(html) == code
    assert html.count("<span") < 50


def test_a_fence_names_its_language():
    assert "<figcaption>python</figcaption>" in render("```Python title=x\n```")[0]
    assert "<figcaption>c++</figcaption>" in render("~~~ c++\n~~~")[0]
    assert language_of("<b>") == ""
    assert language_of("a" * 50) == "a" * 30


def test_every_class_has_a_colour():
    section = STYLES[STYLES.index("/* code:") :]
    for name in set(TOKEN_CLASSES.values()) - {""}:
        assert re.search(rf"\.{name}\b", section), name


@pytest.mark.parametrize(
    ("language", "ending"),
    [
        ("python", "py"), ("js", "js"), ("html", "html"), ("svg", "svg"), ("mermaid", "mmd"), ("c++", "cpp"),
        ("batch", "txt"), ("vbscript", "txt"), ("", "txt"), ("nonsense", "txt"), ("../x", "txt"),
    ],
)  # fmt: skip
def test_the_ending_of_a_file(language: str, ending: str) -> None:
    assert extension_of(language) == ending
