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
        *("$3 \\cdot 4 = 12$", "$10^{-3}$", "$5 \\text{ to } 10$", "$10 \\text{ km}$", "$[0,1]$"),
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


# In English, German, French and Chinese, as people write them beside each other.
PRICES = [
    "The round was $1.5bn; 5$ and 10$ are small.",
    "$1.5bn; 5$ and 10$",
    "It costs $5 and $10.",
    "Between $20 and 30$ each",
    "Prices: $3.99, $4.99, and $5.99.",
    "$100k–$200k a year",
    "From $1,200/month to $1,500/month",
    "He paid 20$ and she paid 30$.",
    "20$, 30$ or 40$",
    "Revenue was $2.3B (up from $1.9B), margin 5%.",
    "A $5 coffee and a $3 tea",
    "Save $10-$20 per seat",
    "($5) and ($6)",
    '"$5" or "$6"',
    "$5, $6 & $7",
    "cost: $0.002/1K tokens vs $0.06/1K",
    "$1M+ in ARR, 2$ CPC",
    "-$5 and +$6",
    "~$40 to ~$50",
    "$19.99* and $29.99**",
    "Das kostet 5 $ oder 10 $.",
    "Der Preis stieg von 12$ auf 15$.",
    "Zwischen $1,5 Mrd. und 2$ pro Stück",
    "rund 100 $; 1.000 $ und 2 Mio. $",
    "$20 statt 30$",
    "Für $5 gibt es 3 Stück, für 10$ acht.",
    "US$ 5 und US$ 10",
    "$1,5 Mio. (2019), 2$ (2020)",
    "Entre 5 $ et 10 $",
    "Il coûte 12$, pas 15$.",
    "$5 à Montréal, 6$ à Québec",
    "Le prix passe de 3,50$ à 4,50$.",
    "entre $10 et 20$ par mois",
    "CA$10 ou 12$CA",
    "价格是$5和$10。",
    "每月$20，每年$200。",
    "从5$涨到10$",
    "$99起，原价199$",
    "约$1.5亿，2$每股",
    "美元$100、欧元€90、日元¥100$",
]
EQUATIONS = [
    "Let $x$ be a number.",
    "The energy is $E=mc^2$.",
    "We have $a < b$ and $b < c$.",
    "for all $n \\ge 1$",
    "$2^{10} = 1024$",
    "$5$ apples",
    "$10\\%$ of it",
    "the interval $[0, 1)$",
    "a matrix $A \\in \\mathbb{R}^{n \\times n}$",
    "$f(x) = 3x + 2$",
    "$3 + 4 = 7$",
    "$12 - 5$",
    "$1/2$ and $3/4$",
    "$100 \\cdot 1.05^5$",
    "$5 \\cdot 10 = 50$ and $x$",
    "$1.5x$",
    "$2\\pi r$",
    "$n!$ and $0! = 1$",
    "$x$, $y$ and $z$",
    "$k$-th, $n$th",
    "Sei $x$ eine Zahl.",
    "Es gilt $a^2 + b^2 = c^2$.",
    "für $n = 5$ und $m = 10$",
    "die Funktion $f$ mit $f(0) = 1$",
    "$3{,}14$ ist $\\pi$",
    "$2 \\cdot 3 = 6$, also",
    "wobei $p$ die Wahrscheinlichkeit $0{,}5$ hat",
    "$5$ bis $10$",
    "Soit $x$ un réel.",
    "On a $a = b$, donc $b = a$.",
    "pour tout $n > 0$",
    "$1 + 1 = 2$ est vrai",
    "de $0$ à $10$",
    "设$x$为实数。",
    "因此$E=mc^2$成立。",
    "当$n=5$时，$m=10$。",
    "$3+4=7$是对的",
    "从$0$到$10$",
    "概率为$0.5$。",
    "$1,2,3$是整数",
]


@pytest.mark.parametrize("text", PRICES)
def test_prices_of_a_sentence_are_no_equations(text):
    assert "<math" not in "".join(render(text))


@pytest.mark.parametrize("text", EQUATIONS)
def test_each_equation_of_a_sentence_is_found(text):
    assert "".join(render(text)).count("<math") == text.count("$") / 2
