"""Fields of Word that have no result: signs (SYMBOL) and formulas of older versions (EQ)."""

import re

from .symbol_fonts import sign_of

SYMBOL = re.compile(
    r'\s*SYMBOL\s+(0x[0-9a-f]{1,4}|[1-9]\d{0,4})\b(?:[^"]*?\\f\s*"([^"]{1,99})")?', re.IGNORECASE
)
EQUATION = re.compile(r"\s*EQ\b(.*)", re.IGNORECASE | re.DOTALL)
FORMAT = re.compile(r'\\\*\s*(?:"[^"]*"|\w+)\s*')  # \* jc2 \* "Font:MS Mincho" \* hps10
ESCAPED = re.compile(r"\\([(),;\\{}])")
PART = re.compile(
    r"\\(do|up|[abdfilorsx])((?:\s*\\(?:[lrbfv]c\\?\S|[a-z]{2}\s*\d*))*|\s*\d+)\s*\(([^()]*)\)", re.IGNORECASE
)
REST = re.compile(r"\\(?:[lrbfv]c\\?\S|(?!frac|sqrt|int)[a-z]{1,2}\s*\d*)", re.IGNORECASE)
MAX_DEPTH = 30
HIDDEN = str.maketrans("(),;\\{}", "\ue000\ue001\ue002\ue003\ue004\ue005\ue006")
SHOWN = {hidden: chr(sign) for sign, hidden in HIDDEN.items()}
KEPT = {sign: hidden for sign, hidden in HIDDEN.items() if chr(sign) in "(),;"}


def field_text(instruction: str) -> str:
    """Return the sign, or the formula in one line; "" for other fields."""
    if found := SYMBOL.match(instruction):
        return sign_of(int(found[1], 0), found[2] or "")
    if not (found := EQUATION.match(instruction)):
        return ""
    text = ESCAPED.sub(lambda each: each[1].translate(HIDDEN), FORMAT.sub("", found[1]))
    for _ in range(MAX_DEPTH):
        text, count = PART.subn(_part, text)
        if not count:
            break
    text = REST.sub("", text).translate(SHOWN).strip()
    return f"${text}$" if re.search(r"\\(?:frac|sqrt|int)|[_^]\{", text) else text


def _part(found: re.Match[str]) -> str:
    """Return a part without others in it: an array, a fraction, a root, …"""
    kind, options, inside = found[1].lower(), found[2].lower(), found[3]
    parts = [each.strip() for each in inside.split(";" if ";" in inside else ",")]
    if kind == "f" and len(parts) == 2:
        made = rf"\frac{{{parts[0]}}}{{{parts[1]}}}"
    elif kind == "r":
        made = rf"\sqrt{f'[{parts[0]}]' if len(parts) > 1 and parts[0] else ''}{{{parts[-1]}}}"
    elif kind == "i" and len(parts) == 3:
        made = rf"\int_{{{parts[0]}}}^{{{parts[1]}}} {parts[2]}"
    elif kind in ("s", "do", "up"):
        made = f"{'_' if 'do' in kind + options else '^'}{{{inside.strip()}}}"
    elif kind == "o":  # one over the other; what is raised is the reading of the others
        made = "".join(each for each in parts if not each.startswith("^{"))
    elif kind == "b":
        made = f"({inside})"
    else:
        made = ", ".join(parts)
    return made.translate(KEPT)
