"""Equations of Office files (OMML, ECMA-376 part 1, 22.1) as TeX."""

import re
import unicodedata
from collections.abc import Callable
from xml.etree.ElementTree import Element

from .containers import is_on, value
from .mathml import ACCENTS, COMMANDS, FUNCTIONS, GROUPS, OPERATORS

MATRICES = {("(", ")"): "pmatrix", ("[", "]"): "bmatrix", ("{", "}"): "Bmatrix", ("|", "|"): "vmatrix",
            ("‖", "‖"): "Vmatrix"}  # fmt: skip
ALPHABETS = {"double-struck": "mathbb", "script": "mathcal", "fraktur": "mathfrak", "monospace": "mathtt"}
FENCES = {"": ".", "{": r"\{", "}": r"\}", "⟨": r"\langle", "⟩": r"\rangle", "〈": r"\langle",
"〉": r"\rangle",
          "‖": r"\|", "⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil"}  # fmt: skip
TALL = re.compile(r"\\(?:frac|begin|sum|int|prod|sqrt|over|under|binom|atop)")
ONE_ATOM = re.compile(
    r"\w|\d+|\\[A-Za-z]+|\\(?:[a-z]+\{[^{}]*\})|\(.*\)|\\left.*\\right\S+|\{.*\}", re.DOTALL
)
GAP = re.compile(r"(\\[A-Za-z]+) +(?![A-Za-z0-9])")
NAME = re.compile(r"[A-Za-z]+")


def tex_of(element: Element) -> str:
    """Return the equation in an `m-oMath`, without dollars."""
    return " ".join(GAP.sub(r"\1", _inside(element)).split())


def _inside(element: Element | None) -> str:
    return "".join(map(_part, element)) if element is not None else ""


def _part(element: Element) -> str:
    made = PARTS.get(element.tag)
    if made:
        return made(element)
    if element.tag in ("w-del", "w-moveFrom") or element.tag.endswith("Pr"):
        return ""
    return _inside(element)


def _run(element: Element) -> str:
    text = "".join(each.text or "" for each in element if each.tag in ("m-t", "w-t"))
    properties = element.find("m-rPr")
    if properties is None or not text.strip():
        return _letters(text)
    if is_on(properties.find("m-nor")):
        return rf"\text{{{text}}}" if NAME.search(text) else _letters(text)
    alphabet = ALPHABETS.get(value(properties.find("m-scr")))
    if alphabet is None and value(properties.find("m-sty")) == "b":
        alphabet = "mathbf"
    return rf"\{alphabet}{{{_letters(text).strip()}}}" if alphabet else _letters(text)


def _letters(text: str) -> str:
    return "".join(map(_letter, text))


def _letter(character: str) -> str:
    if "\U0001d400" <= character <= "\U0001d7ff":
        character = unicodedata.normalize("NFKC", character)
    command = COMMANDS.get(character, character)
    return f"{command} " if command[:1] == "\\" and command[1:2].isalpha() else command


def _of(element: Element, name: str) -> str:
    return _inside(element.find(f"m-{name}")).strip()


def _property(element: Element, name: str) -> Element | None:
    return element.find(f"{element.tag}Pr/m-{name}")


def _group(text: str) -> str:
    """Return an index or an exponent: in braces unless it is one sign."""
    return text if len(text) == 1 else f"{{{text}}}"


def _base(text: str) -> str:
    if text in FUNCTIONS:
        return f"\\{text}"
    return text if ONE_ATOM.fullmatch(text) else f"{{{text}}}"


def _scripts(element: Element) -> str:
    lower, upper = _of(element, "sub"), _of(element, "sup")
    return (f"_{_group(lower)}" if lower else "") + (f"^{_group(upper)}" if upper else "")


def _with_scripts(element: Element) -> str:
    return _base(_of(element, "e")) + _scripts(element)


def _fraction(element: Element) -> str:
    above, below = _of(element, "num"), _of(element, "den")
    kind = value(_property(element, "type"), "bar")
    if kind in ("lin", "skw"):
        return f"{_base(above)}/{_base(below)}"
    return f"{{{above} \\atop {below}}}" if kind == "noBar" else rf"\frac{{{above}}}{{{below}}}"


def _radical(element: Element) -> str:
    degree = "" if is_on(_property(element, "degHide")) else _of(element, "deg")
    return rf"\sqrt[{degree}]{{{_of(element, 'e')}}}" if degree else rf"\sqrt{{{_of(element, 'e')}}}"


def _nary(element: Element) -> str:
    sign = value(_property(element, "chr"), "∫")
    operator = OPERATORS.get(sign) or _letters(sign).strip()
    return f"{operator}{_scripts(element)} {_of(element, 'e')}"


def _delimiters(element: Element) -> str:
    begin, end, between = (
        sign if found is None else value(found)
        for sign, found in ((sign, _property(element, name)) for name, sign in
                            (("begChr", "("), ("endChr", ")"), ("sepChr", "|")))
    )  # fmt: skip
    parts = element.findall("m-e")
    only = parts[0][0] if len(parts) == 1 and len(parts[0]) == 1 else None
    if only is not None and only.tag == "m-m" and (begin, end) in MATRICES:
        return _matrix(only, MATRICES[begin, end])
    if only is not None and only.tag == "m-eqArr" and (begin, end) == ("{", ""):
        return _rows(_array_rows(only), "cases")
    if (
        only is not None
        and only.tag == "m-f"
        and (begin, end) == ("(", ")")
        and value(_property(only, "type")) == "noBar"
    ):
        return rf"\binom{{{_of(only, 'num')}}}{{{_of(only, 'den')}}}"
    inside = _letters(between).join(_inside(each).strip() for each in parts)
    opening, closing = FENCES.get(begin, begin), FENCES.get(end, end)
    if begin and end and not TALL.search(inside):
        return f"{opening} {inside} {closing}" if opening[-1].isalpha() else f"{opening}{inside}{closing}"
    return rf"\left{opening} {inside} \right{closing}"


def _rows(rows: list[str], kind: str) -> str:
    return rf"\begin{{{kind}}} " + r" \\ ".join(rows) + rf" \end{{{kind}}}"


def _matrix(element: Element, kind: str = "matrix") -> str:
    rows = element.findall("m-mr")
    return _rows([" & ".join(_inside(cell).strip() for cell in row.findall("m-e")) for row in rows], kind)


def _array_rows(element: Element) -> list[str]:
    """Return the lines; an ampersand aligns them, and a number follows a hash."""
    lines = (_inside(each).strip() for each in element.findall("m-e"))
    return [line.replace(r"\&", "&").replace(r"\#", r"\quad ") for line in lines]


def _array(element: Element) -> str:
    rows = _array_rows(element)
    return rows[0].replace("&", "") if len(rows) == 1 else _rows(rows, "aligned")


def _named(name: str) -> str:
    plain = name.removeprefix(r"\text{").removesuffix("}") if name.startswith(r"\text{") else name
    found = NAME.match(plain)
    if not found:
        return name
    command = f"\\{found[0]}" if found[0] in FUNCTIONS else rf"\operatorname{{{found[0]}}}"
    return command + plain[found.end() :]


def _accent(element: Element) -> str:
    mark = value(_property(element, "chr"), "\u0302")
    return rf"\{ACCENTS.get(mark, 'hat')}{{{_of(element, 'e')}}}"


def _is_above(element: Element) -> bool:
    return value(_property(element, "pos"), "bot") == "top"


def _boxed(element: Element) -> str:
    properties = element.find("m-borderBoxPr")
    struck = properties is not None and any(
        each.tag.startswith("m-strike") and is_on(each) for each in properties
    )
    return rf"\{'cancel' if struck else 'boxed'}{{{_of(element, 'e')}}}"


def _grouped(element: Element) -> str:
    sign, above = value(_property(element, "chr"), "⏟"), _is_above(element)
    if sign in GROUPS:
        return rf"\{GROUPS[sign]}{{{_of(element, 'e')}}}"
    return rf"\{'overset' if above else 'underset'}{{{_letters(sign).strip()}}}{{{_of(element, 'e')}}}"


def _limit(element: Element) -> str:
    base, limit, below = _of(element, "e"), _of(element, "lim"), element.tag == "m-limLow"
    if NAME.fullmatch(base):
        base = _named(base)
    if base.startswith((r"\underbrace", r"\overbrace")) or base.lstrip("\\") in FUNCTIONS:
        return f"{base}{'_' if below else '^'}{_group(limit)}"
    if base.startswith(r"\operatorname"):
        return f"{base}_{_group(limit)}"
    return rf"\{'underset' if below else 'overset'}{{{limit}}}{{{base}}}"


def _phantom(element: Element) -> str:
    shown = _property(element, "show")
    return "" if shown is not None and not is_on(shown) else _of(element, "e")


PARTS: dict[str, Callable[[Element], str]] = {
    "m-r": _run,
    "m-f": _fraction,
    "m-rad": _radical,
    "m-nary": _nary,
    "m-sSup": _with_scripts,
    "m-sSub": _with_scripts,
    "m-sSubSup": _with_scripts,
    "m-sPre": lambda each: "{}" + _scripts(each) + _of(each, "e"),
    "m-d": _delimiters,
    "m-m": _matrix,
    "m-eqArr": _array,
    "m-func": lambda each: f"{_named(_of(each, 'fName'))} {_of(each, 'e')}",
    "m-acc": _accent,
    "m-bar": lambda each: rf"\{'overline' if _is_above(each) else 'underline'}{{{_of(each, 'e')}}}",
    "m-borderBox": _boxed,
    "m-groupChr": _grouped,
    "m-limLow": _limit,
    "m-limUpp": _limit,
    "m-phant": _phantom,
}
