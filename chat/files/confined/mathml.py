"""Equations in MathML as TeX."""

import re
from collections.abc import Callable
from typing import Any

from .html_visibility import is_hidden, tag_of

MAX_DEPTH = 60
TEX_ANNOTATION = re.compile(r"application/x-(?:la)?tex", re.IGNORECASE)
STYLE = re.compile(r"\{?\\(?:display|text)style\s*(.*?)\}?\s*", re.DOTALL)
SPACES = re.compile(r"\s+")
FUNCTIONS = re.compile(
    "arccos|arcsin|arctan|arg|cos|cosh|cot|coth|csc|deg|det|dim|exp|gcd|hom|inf|ker|lg|lim|liminf|"
    "limsup|ln|log|max|min|mod|Pr|sec|sin|sinh|sup|tan|tanh"
)
# Signs that TeX gives a meaning of its own, and those whose names are better known than the sign.
SIGNS = {
    **{sign: f"\\{sign}" for sign in "{}%&#$_"},
    "\\": r"\setminus",
    "~": r"\sim",
    "\xa0": " ",
    "−": "-",
    "∑": r"\sum",
    "∏": r"\prod",
    "∫": r"\int",
    "∬": r"\iint",
    "∮": r"\oint",
    "√": r"\surd",
    "∞": r"\infty",
    "±": r"\pm",
    "∓": r"\mp",
    "×": r"\times",
    "÷": r"\div",
    "⋅": r"\cdot",
    "·": r"\cdot",
    "≤": r"\le",
    "≥": r"\ge",
    "≠": r"\ne",
    "≈": r"\approx",
    "≡": r"\equiv",
    "→": r"\to",
    "⇒": r"\Rightarrow",
    "⇔": r"\Leftrightarrow",
    "∈": r"\in",
    "∂": r"\partial",
    "∇": r"\nabla",
    "…": r"\dots",
    "⋯": r"\cdots",
    # Applied functions, products and separators that are not written.
    **dict.fromkeys("\u2061\u2062\u2063\u2064\u200b", ""),
}
ACCENTS = {
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
    """Return an element of MathML as TeX."""
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
        return rf"\{text}" if FUNCTIONS.fullmatch(text) else "".join(map(_sign, text))
    if tag == "mn":
        return text
    if tag == "mi":
        return rf"\{text}" if FUNCTIONS.fullmatch(text) else rf"\mathrm{{{text}}}"
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


def _under(base: str, sub: str) -> str:
    return rf"\{ACCENTS[sub]}{{{base}}}" if sub in ACCENTS else _scripted(base, sub)


def _over(base: str, sup: str) -> str:
    return rf"\{ACCENTS[sup]}{{{base}}}" if sup in ACCENTS else _scripted(base, "", sup)


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
    "munder": (("base", "sub"), _under),
    "mover": (("base", "sup"), _over),
    "munderover": (("base", "sub", "sup"), _scripted),
}
