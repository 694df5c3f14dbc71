"""Prices and other words between dollars, which are no equations, and equations that look alike."""

import pytest

from chat.rendering.markdown import render

from .page import streamed


@pytest.mark.parametrize(
    "text",
    [
        "The price is $10, R$ 52,90 or US$ 9 per month.",
        "$10 (R$ 52), C$ 5, MX$ 90",
        "A$10, NZ$12, HK$80 and S$ 9",
        "US$5 (CA$ 7)",
        "costs $5, €6 or 7$.",
        "$100 = €92 = £79, 100$",
        "$10 (about 9 €), 12$",
        "the $/€ rate and the €/$ rate",
        "$5 or 10$, $5-10 (or 15$ later)",
        "It's $5/mo, $50/yr, 60$ total",
        "He had $5, she had 6$!",
        "$10 y 20$, $10 à 15$, $3 bis 4$",
        "$5到10$之间",
        "от $5 до 10$",
        "$10|20$",
        "pay $1.50, then 2$.",
        "$20–$30, $40—$50, $0.50/GB and $0.10/GB",
        "$5M to $6M, and 7$",
    ],
)
def test_prices_stay_as_written(text):
    assert render(text) == [f'<p dir="auto">{text}</p>']
    assert streamed(text, list(range(len(text) + 1))) == render(text, "m")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "$10$",
            "$3.14$",
            "$2x + 3y$",
            "$1, 2, 3$",
            "$0 < x < 1$",
            "$2ab$",
            "$5 kg$",
            "$5!$",
            "$1:2$",
            "$50\\%$",
        ),
        *(
            "$3 \\cdot 4 = 12$",
            "$10^{-3}$",
            "$5 \\text{ to } 10$",
            "$10 \\text{ km}$",
            "$[0,1]$",
        ),
        *(
            "$R$",
            "$A$ and B",
            "$x \\in \\mathbb{R}$ 3 times",
            "$x$ €5",
            "$5\\text{€} + 1$",
            "$2 \\times 3$ matrix",
        ),
    ],
)
def test_equations_that_look_alike_stay_equations(text):
    assert render(text)[0].count("<math") == 1
