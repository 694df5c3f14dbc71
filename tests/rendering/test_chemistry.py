r"""Chemistry in equations, `\ce{…}` and `\pu{…}` of mhchem."""

from xml.etree import ElementTree

import pytest

from chat.rendering.mathml import mathml


def seen(tex: str) -> str:
    """The letters of an equation, with its indices as “_2” and “^+”."""
    root = ElementTree.fromstring(str(mathml(tex, display=False)).replace("&nbsp;", " "))
    return _seen(root[0][0]).replace("−", "-")


def _seen(element: ElementTree.Element) -> str:
    parts = [element.text or "", *map(_seen, element)]
    between = {"msub": "_", "msup": "^", "msubsup": "_^"}.get(element.tag, "")
    marks = ["", "", *between, *[""] * len(parts)]
    return "".join(mark + part for mark, part in zip(marks, parts, strict=False))


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("NaCl", "NaCl"),
        ("H2O", "H_2O"),
        ("HCl + NaOH -> NaCl + H2O", "HCl+NaOH⟶NaCl+H_2O"),
        ("Na+ + OH-", "Na^++OH^-"),
        ("SO4^2-", "SO_4^2-"),
        ("NH4+", "NH_4^+"),
        ("Cr2O7^{2-}", "Cr_2O_7^2-"),
        ("[Cu(NH3)4]^2+", "[Cu(NH_3)_4]^2+"),
        ("Hg^{II}", "Hg^II"),
        ("2e-", "2e^-"),
        ("CaCO3(s) -> CaO + CO2 ^", "CaCO_3(s)⟶CaO+CO_2↑"),
        ("AgCl v", "AgCl↓"),
        ("Cu^2+(aq)", "Cu^2+(aq)"),
        ("CuSO4.5H2O", "CuSO_4⋅5H_2O"),
        ("KCr(SO4)2*12H2O", "KCr(SO_4)_2⋅12H_2O"),
        ("n H2O", "nH_2O"),
        ("C_nH_{2n+2}", "C_nH_2n+2"),
        ("CH3-CH=CH2", "CH_3-CH=CH_2"),
        ("HC#CH", "HC≡CH"),
        ("N2 + 3 H2 <=> 2 NH3", "N_2+3H_2⇌2NH_3"),
        ("A <-> B", "A⟷B"),
        ("1/2O2", "12O_2"),
    ],
)
def test_a_formula_reads_as_chemists_write_it(formula, expected):
    assert seen(rf"\ce{{{formula}}}") == expected


def test_isotopes_and_words_at_arrows_become_mathml():
    assert "<mn>90</mn><mn>227</mn>" in str(mathml(r"\ce{^{227}_{90}Th+}", display=False))
    html = str(mathml(r"\ce{A ->[H2O][\Delta] B ->[\text{heat}] C <=>[{hot acid}] D}", display=True))
    for part in ("<mn>2</mn>", "Δ", "<mtext>heat</mtext>", "hot\xa0acid", "⇌"):
        assert part in html


def test_formulas_stand_among_other_equations():
    assert seen(r"K = \frac{[\ce{H+}]}{2}") == "K=[H^+]2"
    assert seen(r"\ce{H2O} + \ce{CO2}") == "H_2O+CO_2"


@pytest.mark.parametrize(
    ("quantity", "expected"),
    [
        ("25 kJ/mol", "25kJ/mol"),
        ("1.2e3 m s-2", "1.2×10^3ms^-2"),
        ("50 %", "50%"),
        ("5 mol*L-1", "5mol⋅L^-1"),
    ],
)
def test_a_quantity_has_its_unit(quantity, expected):
    assert seen(rf"\pu{{{quantity}}}") == expected


@pytest.mark.parametrize("tex", [r"\ce{H2O", r"\ce{§}", r"\pu{§}", r"\ce{" + "{" * 60 + "x" + "}" * 60 + "}"])
def test_what_is_not_understood_stays_source(tex):
    assert mathml(tex, display=False) is None
