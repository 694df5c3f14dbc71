"""Equations in MathML as TeX, and the names that TeX has for signs."""

import re
from collections.abc import Callable
from typing import Any

from .html_visibility import is_hidden, tag_of

MAX_DEPTH = 60
TEX_ANNOTATION = re.compile(r"application/x-(?:la)?tex", re.IGNORECASE)
STYLE = re.compile(r"\{?\\(?:display|text)style\s*(.*?)\}?\s*", re.DOTALL)
SPACES = re.compile(r"\s+")
# The names that TeX has for signs of equations, those of Office files too.
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
} | {sign: f"\\{sign}" for sign in "#$%&_{}"} | {
    "\\": r"\backslash", "~": r"\sim", "^": r"\wedge",
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
# Signs that TeX gives a meaning of its own, and those whose names are better known than the sign.
SIGNS = {sign: (COMMANDS | OPERATORS)[sign] for sign in "{}%&#$_~−∑∏∫∬∮√∞±∓×÷⋅·≤≥≠≈≡→⇒⇔∈∂∇⋯"} | {
    "\\": r"\setminus",
    "\xa0": " ",
    "…": r"\dots",
    # Applied functions, products and separators that are not written.
    **dict.fromkeys("\u2061\u2062\u2063\u2064\u200b", ""),
}
OVER = {
    "¯": "overline",
    "‾": "overline",
    "ˉ": "bar",
    r"\_": "underline",
    "^": "hat",
    "ˆ": "hat",
    r"\sim": "tilde",
    "˜": "tilde",
    r"\to": "vec",
    "⃗": "vec",
    "˙": "dot",
    "¨": "ddot",
    "⏞": "overbrace",
    "⏟": "underbrace",
}
COMMAND = re.compile(r"\\[A-Za-z]+$")
ONE_TOKEN = re.compile(r"\\[A-Za-z]+|\\?.", re.DOTALL)


def equation(math: Any) -> str:
    """Return an element `<math>` as TeX between dollars, as its author wrote it where that is kept."""
    written = next(
        (
            each
            for each in math.css("annotation")
            if TEX_ANNOTATION.match(each.attributes.get("encoding") or "")
        ),
        None,
    )
    text = (written.text() if written is not None else math.attributes.get("alttext") or "").strip()
    if text:
        unstyled = STYLE.fullmatch(text)
        text = unstyled[1] if unstyled else text
    else:
        text = tex(math)
    return between_dollars(text, math.attributes.get("display") == "block")


def between_dollars(text: str, is_block: bool) -> str:
    text = SPACES.sub(" ", text).strip()
    if not text:
        return ""
    return f"\n$${text}$$\n" if is_block else f"${text}$"


def tex(node: Any, depth: int = 0) -> str:
    tag = tag_of(node)
    if tag == "-text":
        return (node.text_content or "").strip()
    if depth > MAX_DEPTH or tag in TOKENS:
        return _token(tag, " ".join(node.text().split()))
    children = [each for each in node.iter(include_text=True) if _is_written(each)]
    if tag == "mmultiscripts":
        return _multiscripts([(each.tag, tex(each, depth + 1)) for each in children])
    if tag in ("semantics", "maction"):
        del children[1:]
    parts = [tex(each, depth + 1) for each in children]
    if tag in FORMS and len(parts) == len(FORMS[tag][0]):
        names, form = FORMS[tag]
        return form(**dict(zip(names, parts, strict=True)))
    if tag == "mfenced":
        separator = (node.attributes.get("separators") or ",").strip()[:1]
        opening, closing = (node.attributes.get(name) for name in ("open", "close"))
        edges = [_sign("(" if opening is None else opening), _sign(")" if closing is None else closing)]
        return separator.join(parts).join(edges)
    if tag == "mtable":
        return r" \\ ".join(parts).join((r"\begin{matrix}", r"\end{matrix}"))
    if tag in ("mtr", "mlabeledtr"):
        return " & ".join(parts)
    inside = _spread(parts)
    return rf"\sqrt{{{inside}}}" if tag == "msqrt" else inside


def _is_written(node: Any) -> bool:
    if node.tag == "-text":
        return bool((node.text_content or "").strip())
    return not tag_of(node).startswith("-") and not is_hidden(node)


def _token(tag: str, text: str) -> str:
    if tag == "mo" or len(text) == 1:
        return rf"\{text}" if text in FUNCTIONS or text == "mod" else "".join(map(_sign, text))
    if tag == "mn":
        return text
    if tag == "mi":
        return rf"\{text}" if text in FUNCTIONS or text == "mod" else rf"\mathrm{{{text}}}"
    return rf"\text{{{text}}}" if text else ""


def _sign(text: str) -> str:
    return SIGNS.get(text, text)


def _spread(parts: list[str]) -> str:
    """Return the parts in a row, with a space where a letter would lengthen a command."""
    row = ""
    for part in parts:
        row += " " * bool(part[:1].isalpha() and COMMAND.search(row)) + part
    return row


def _base(text: str) -> str:
    return text if ONE_TOKEN.fullmatch(text) else f"{{{text}}}"


def _scripted(base: str, sub: str = "", sup: str = "") -> str:
    below, above = (f"{mark}{{{text}}}" if text else "" for mark, text in (("_", sub), ("^", sup)))
    return _base(base) + below + above


def _marked(base: str, sub: str = "", sup: str = "") -> str:
    over = OVER.get(sub or sup)
    return rf"\{over}{{{base}}}" if over else _scripted(base, sub, sup)


def _multiscripts(parts: list[tuple[str, str]]) -> str:
    """Return a base with pairs of a subscript and a superscript behind it, then those in front of it."""
    base, rest = (parts[0][1], parts[1:]) if parts else ("", [])
    front = next((number for number, (tag, _) in enumerate(rest) if tag == "mprescripts"), len(rest))
    behind, before = ([text for _, text in each] for each in (rest[:front], rest[front + 1 :]))
    pairs = [
        "".join(_scripted("", *texts[at : at + 2])[2:] for at in range(0, len(texts), 2))
        for texts in (behind, before)
    ]
    return ("{}" + pairs[1] if pairs[1] else "") + _base(base) + pairs[0]


TOKENS = frozenset(("mi", "mn", "mo", "ms", "mtext"))
# The names of the children, in their order, and what is made of them.
FORMS: dict[str, tuple[tuple[str, ...], Callable[..., str]]] = {
    "mfrac": (("over", "under"), lambda over, under: rf"\frac{{{over}}}{{{under}}}"),
    "mroot": (("base", "index"), lambda base, index: rf"\sqrt[{index}]{{{base}}}"),
    "msub": (("base", "sub"), _scripted),
    "msup": (("base", "sup"), _scripted),
    "msubsup": (("base", "sub", "sup"), _scripted),
    "munder": (("base", "sub"), _marked),
    "mover": (("base", "sup"), _marked),
    "munderover": (("base", "sub", "sup"), _scripted),
}
