"""Markdown and TeX as a title and a snippet show them, which have no marks."""

import pytest

from chat.rendering.plain_text import plain, plain_line

TABLE = "Here it is:\n\n| Year | **Sum** |\n|------|:---:|\n| 2025 | 545,923 |\n\nThat is all."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Why **not** *this* or __that__", "Why not this or that"),
        ("5 * 3 * 2 and snake_case_name, _so_ __be__ it", "5 * 3 * 2 and snake_case_name, so be it"),
        ("Costs of $5 = $10 and $6", "Costs of $5 = $10 and $6"),
        ("See [the docs](https://example.org/a_(b)) and ![a cat](cat.png)", "See the docs and a cat"),
        ("And `a*b*c` stays", "And a*b*c stays"),
        (r"Half of \(\frac{1}{2}\) is \(\sqrt{2}\)", "Half of 1/2 is √2"),
        (r"So \(x = \frac{a+b}{2}\), $$\text{rate} \cdot 2 \leq y$$", "So x = (a+b)/2, rate · 2 ≤ y"),
    ],
)
def test_a_line_and_a_text_are_shown_without_marks(text: str, shown: str) -> None:
    assert plain_line(text) == shown
    assert " ".join(plain(text).split()).replace(" ,", ",") == shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("$E = mc^2$ and $p$", "E = mc² and p"),
        (r"Area $\pi r^{2}$, $x_1 \le \sin x$", "Area π r², x₁ ≤ sin x"),
        (r"$$\frac{a+b}{n^{k+1}}$$", "(a+b)/(n^(k+1))"),
        ("What *args and **kwargs in a <b> mean", "What *args and **kwargs in a <b> mean"),
    ],
)
def test_a_whole_line_has_whole_equations_and_marks(line: str, shown: str) -> None:
    assert plain_line(line) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (TABLE, "Here it is: Year · Sum 2025 · 545,923 That is all."),
        ("## Plan\n\n- **First**: pack\n- [ ] *then* go\n> and rest", "Plan First: pack then go and rest"),
        ("Run:\n```python\nx = a * b  # **not** bold\n```\nDone", "Run: x = a * b # **not** bold Done"),
        ("a cut **edge, a\\*b, $5 or $6, and not <br>less", "a cut edge, a*b, $5 or $6, and not less"),
        ("***\n---\nA | B", "A | B"),
    ],
)
def test_a_part_of_a_reply_is_shown_without_its_marks(text: str, shown: str) -> None:
    assert " ".join(plain(text).split()) == shown
