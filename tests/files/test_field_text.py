"""Formulas and signs of older Word documents, which are fields without a result."""

import pytest

from chat.files.confined.word_fields import field_text


@pytest.mark.parametrize(
    ("instruction", "text"),
    [
        (r" EQ \f(1,2) ", r"$\frac{1}{2}$"),
        (r"EQ \f(1,5;2)", r"$\frac{1,5}{2}$"),
        (r"eq \r(3,x\s\up5(2)+1)", r"$\sqrt[3]{x^{2}+1}$"),
        (r"EQ \f(\r(,a\(b+c\)),2\,5)", r"$\frac{\sqrt{a(b+c)}}{2,5}$"),
        (r"EQ \i\su(i=1,n,a\s\do4(i))", r"$\int_{i=1}^{n} a_{i}$"),
        (r"EQ \s\up9(x)\do3(y)", "$^{x}_{y}$"),
        (r"EQ \b\lc\{\rc\}(\a\al\co2(1,2,3,4))", "(1, 2, 3, 4)"),
        (r'EQ \* jc2 \* "Font:MS Mincho" \* hps10 \o\ad(\s\up 9(とうきょう),東京)', "東京"),
        (r"EQ \o\ac(○,1)", "○1"),
        (r"EQ \x\to\bo(5)", "5"),
        (r"EQ words (as they are)", "words (as they are)"),
        (r'SYMBOL 176 \f "Symbol" \s 11', "°"),
        (r'SYMBOL 0xFC \f "Wingdings"', "✓"),
        (r' XE "a term" ', ""),
        (r"PAGE", ""),
    ],
)
def test_a_field_without_a_result(instruction: str, text: str) -> None:
    assert field_text(instruction) == text
