"""The names that TeX has for signs of equations."""

_GREEK = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu",
    "xi", "omicron", "pi", "rho", "varsigma", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
]  # fmt: skip
_CAPITALS = {3: "Gamma", 4: "Delta", 8: "Theta", 11: "Lambda", 14: "Xi", 16: "Pi", 19: "Sigma", 21: "Upsilon",
             22: "Phi", 24: "Psi", 25: "Omega"}  # fmt: skip
# What stands for itself in TeX, or has a name.
COMMANDS = {chr(0x3B1 + at): f"\\{name}" for at, name in enumerate(_GREEK) if name != "omicron"} | {
    chr(0x390 + at): f"\\{name}" for at, name in _CAPITALS.items()
} | {
    "ϕ": r"\phi", "φ": r"\varphi", "ϵ": r"\epsilon", "ε": r"\varepsilon", "ϑ": r"\vartheta", "ϖ": r"\varpi",
    "ϱ": r"\varrho", "−": "-", "±": r"\pm", "∓": r"\mp", "×": r"\times", "÷": r"\div", "⋅": r"\cdot",
    "·": r"\cdot", "∙": r"\cdot", "∗": "*", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "≈": r"\approx",
    "≡": r"\equiv",
    "≅": r"\cong", "∼": r"\sim", "≪": r"\ll", "≫": r"\gg", "∝": r"\propto", "→": r"\to", "←": r"\leftarrow",
    "↔": r"\leftrightarrow", "⇒": r"\Rightarrow", "⇐": r"\Leftarrow", "⇔": r"\Leftrightarrow",
    "↦": r"\mapsto",
    "⇌": r"\rightleftharpoons", "↑": r"\uparrow", "↓": r"\downarrow", "∞": r"\infty", "∂": r"\partial",
    "∇": r"\nabla", "∆": r"\Delta", "∀": r"\forall", "∃": r"\exists", "∄": r"\nexists", "∅": r"\emptyset",
    "∈": r"\in", "∉": r"\notin", "∋": r"\ni", "⊂": r"\subset", "⊆": r"\subseteq", "⊃": r"\supset",
    "⊇": r"\supseteq", "∪": r"\cup", "∩": r"\cap", "∖": r"\setminus", "∧": r"\wedge", "∨": r"\vee",
    "¬": r"\neg",
    "⊕": r"\oplus", "⊗": r"\otimes", "⊥": r"\perp", "∥": r"\parallel", "∠": r"\angle", "∘": r"\circ",
    "°": r"^\circ", "…": r"\ldots", "⋯": r"\cdots", "⋮": r"\vdots", "⋱": r"\ddots", "ℏ": r"\hbar",
    "ℓ": r"\ell",
    "ℜ": r"\Re", "ℑ": r"\Im", "ℵ": r"\aleph", "ℝ": r"\mathbb{R}", "ℕ": r"\mathbb{N}", "ℤ": r"\mathbb{Z}",
    "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}", "′": "'", "″": "''", "∑": r"\sum", "∏": r"\prod", "∫": r"\int",
    "√": r"\surd", "∴": r"\therefore", "∵": r"\because", "⟨": r"\langle", "⟩": r"\rangle", "\u2061": "",
    "\u2062": "", "\u2063": "", "\u200b": "", "\xa0": "",
}  # fmt: skip
OPERATORS = {
    "∑": r"\sum", "∏": r"\prod", "∐": r"\coprod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint",
    "∯": r"\oiint", "⋃": r"\bigcup", "⋂": r"\bigcap", "⋁": r"\bigvee", "⋀": r"\bigwedge", "⨁": r"\bigoplus",
    "⨂": r"\bigotimes", "⨀": r"\bigodot",
}  # fmt: skip
FUNCTIONS = frozenset([
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
    "coth", "log",
    "ln", "lg", "exp", "lim", "limsup", "liminf", "max", "min", "sup", "inf", "det", "dim", "gcd", "hom",
    "ker", "Pr",
    "arg", "deg",
])  # fmt: skip
ACCENTS = {
    "\u0300": "grave", "\u0301": "acute", "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar",
    "\u0305": "overline",
    "¯": "bar", "\u0306": "breve", "\u0307": "dot", "\u0308": "ddot", "\u20db": "dddot", "\u030a": "mathring",
    "\u030c": "check", "\u20d7": "vec", "→": "vec", "\u20d6": "overleftarrow", "\u20e1": "overleftrightarrow",
    "\u0332": "underline", "\u0331": "underline", "^": "hat", "~": "tilde", "˜": "tilde", "ˆ": "hat",
    "ˇ": "check",
    "˙": "dot", "¨": "ddot", "̿": "overline",
}  # fmt: skip
GROUPS = {"⏞": "overbrace", "⏟": "underbrace", "︷": "overbrace", "︸": "underbrace", "⎴": "overbracket",
          "⎵": "underbracket"}  # fmt: skip
