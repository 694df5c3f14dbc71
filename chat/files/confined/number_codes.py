"""Numbers of workbooks and charts, in their formats, as by ECMA-376 part 1, 18.8.30 and 18.8.31."""

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache

from .date_codes import Token, dated, is_date

GENERAL = "General"
# Formats that files name by number only. A short date, in the order of a country elsewhere, is ISO's here.
BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?",
    13: "# ??/??",
    14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0;-#,##0", 38: "#,##0;-#,##0", 39: "#,##0.00;-#,##0.00",
    40: "#,##0.00;-#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}  # fmt: skip
BUILT_IN |= dict.fromkeys((27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58), "yyyy-mm-dd")
BUILT_IN |= dict.fromkeys((32, 33, 34, 35), "h:mm:ss")
TOKEN = re.compile(
    r'"(?P<text>[^"]*)"?|\\(?P<escaped>.)|[_*].|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General)|(?P<exponent>[Ee][+-])|(?P<code>AM/PM|A/P|[yY]+|[mM]+|[dD]+|[hH]+|[sS]+|[0#?.,%/@])"
    r"|(?P<era>[gG]{1,3}|[eE]{1,2}|[aA]{3,4})|(?P<other>.)",
    re.DOTALL,
)
CONDITION = re.compile(r"([<>=]{1,2})(-?[\d.]+)")
ELAPSED = re.compile(r"[hH]+|[mM]+|[sS]+")
DIGIT = re.compile(r"[1-9]")
SIGNIFICANT_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Section:
    """One of the formats that a code has for positive numbers, negative ones, zero and texts."""

    tokens: tuple[Token, ...]
    condition: tuple[str, float] | None = None


def shown(number: float, code: str, is_1904: bool = False) -> str:
    """Return a number in a format; as without one if it, or the format, is beyond what is known here."""
    try:
        return _formatted(number, code, is_1904)
    except (ArithmeticError, ValueError, IndexError):
        return general(number)


def _formatted(number: float, code: str, is_1904: bool) -> str:
    sections = parsed(code)
    section, brings_sign = _section(sections, number)
    if section is None or (len(sections) == 1 and not section.tokens):
        return general(number)
    if is_date(section.tokens):
        return dated(number, section.tokens, is_1904)
    if any(each.kind == "general" or each.text == "@" for each in section.tokens):
        text = "".join(each.text if each.kind == "text" else general(abs(number)) for each in section.tokens)
    else:
        text = _number(Decimal(repr(abs(number))), section.tokens)
    return f"-{text}" if number < 0 and not brings_sign and DIGIT.search(text) else text


def general(number: float) -> str:
    """Return a number without a format: no digits that come from its binary form."""
    if abs(number) < 1e15 and number == int(number):
        return str(int(number))
    return f"{number:.{SIGNIFICANT_DIGITS}g}"


@lru_cache(maxsize=1_000)
def parsed(code: str) -> tuple[Section, ...]:
    sections: list[Section] = []
    tokens: list[Token] = []
    condition = None
    for found in TOKEN.finditer(code or GENERAL):
        kind, text = found.lastgroup, found[found.lastgroup or 0] or ""
        if kind == "other" and text == ";":
            sections.append(Section(tuple(tokens), condition))
            tokens, condition = [], None
        elif kind == "bracket" and ELAPSED.fullmatch(text):
            tokens.append(Token("elapsed", text.lower()))
        elif kind == "bracket" and (limit := CONDITION.fullmatch(text)):
            condition = limit[1], float(limit[2])
        elif kind in ("code", "era", "general"):
            tokens.append(Token(kind, text))
        elif kind == "exponent":
            tokens.append(Token("code", text.upper()))
        elif kind and kind != "bracket" and text:
            tokens.append(Token("text", text))
    return (*sections, Section(tuple(tokens), condition))


def _section(sections: tuple[Section, ...], number: float) -> tuple[Section | None, bool]:
    """Return the format for a number, and whether it brings the sign itself."""
    if any(each.condition for each in sections):
        for section in sections:
            if section.condition is None or _holds(section.condition, number):
                return section, False
        return None, False
    if len(sections) > 2 and number == 0:
        return sections[2], True
    if len(sections) > 1 and number < 0:
        return sections[1], True
    return sections[0], False


def _holds(condition: tuple[str, float], number: float) -> bool:
    sign, limit = condition
    if sign == "<>":
        return number != limit
    return (
        (number < limit and "<" in sign)
        or (number > limit and ">" in sign)
        or (number == limit and "=" in sign)
    )


def _number(number: Decimal, tokens: tuple[Token, ...]) -> str:
    codes = "".join(each.text for each in tokens if each.kind == "code")
    number *= 100 ** codes.count("%")
    if "/" in codes:
        return _fraction(number, tokens)
    mantissa = codes.partition("E")[0]
    whole, _, decimals = mantissa.replace("%", "").partition(".")
    places = sum(each in "0#?" for each in decimals)
    exponent = ""
    if "E" in codes:
        number, exponent = _scientific(number, places, max(1, sum(each in "0#?" for each in whole)), codes)
    last = decimals or whole
    number /= 1_000 ** (len(last) - len(last.rstrip(",")))
    digits, _, fraction = f"{number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):f}".partition(".")
    return _filled(tokens, digits, fraction, "," in whole.rstrip(","), exponent)


def _scientific(number: Decimal, places: int, step: int, codes: str) -> tuple[Decimal, str]:
    """Return the mantissa and the exponent, a multiple of the digits before the point (`step`)."""
    power = number.adjusted() // step * step if number else 0
    mantissa = number.scaleb(-power)
    if mantissa.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP) >= 10**step:
        mantissa, power = mantissa.scaleb(-step), power + step
    digits = codes.partition("E")[2].count("0")
    return mantissa, f"E{'-' if power < 0 else '+'}{abs(power):0{digits}}"


def _filled(tokens: tuple[Token, ...], digits: str, fraction: str, is_grouped: bool, exponent: str) -> str:
    """Return the digits in the places of a format, and the texts between them."""
    places = _places(tokens)
    wanted = sum(1 for _ in places)
    least = wanted - next((at for at, index in enumerate(places) if tokens[index].text == "0"), wanted)
    digits = (digits if digits != "0" or least else "").rjust(least, "0")
    found, behind_point, is_ended, used, place = "", False, False, 0, 0
    for index, token in enumerate(tokens):
        if token.kind != "code":
            found += token.text
        elif token.text.startswith("E"):
            found, is_ended = found + exponent, True
        elif token.text == ".":
            found, behind_point = found + ("" if is_ended else "."), True
        elif token.text == "%":
            found += "%"
        elif token.text in ("0", "#", "?") and not is_ended:
            if behind_point:
                optional = token.text != "0" and not fraction[used:].strip("0")
                found, used = found + ("" if optional else fraction[used]), used + 1
                continue
            if index == places[0]:
                first = max(len(digits) - wanted + 1, 0)
                found += (
                    _grouped(digits[:first], len(digits), is_grouped)
                    if digits and len(digits) >= wanted
                    else ""
                )
            elif len(digits) >= wanted - place:
                at = len(digits) - wanted + place
                found += _grouped(digits[at], len(digits) - at, is_grouped)
            place += 1
    return (
        re.sub(r"\.(?!\d)(?=\D*$)", "", found, count=1) if behind_point and not fraction.strip("0") else found
    )


def _places(tokens: tuple[Token, ...]) -> list[int]:
    """Return where the digits in front of the point are."""
    found = []
    for index, token in enumerate(tokens):
        if token.kind == "code" and token.text in (".", "E+", "E-"):
            break
        if _is_place(token):
            found.append(index)
    return found


def _grouped(digits: str, left: int, is_grouped: bool) -> str:
    """Return digits with commas. `left`: how many there are from the first of these to the end."""
    if not is_grouped:
        return digits
    return "".join(
        digit + ("," if left - at > 1 and (left - at) % 3 == 1 else "") for at, digit in enumerate(digits)
    )


def _fraction(number: Decimal, tokens: tuple[Token, ...]) -> str:
    """Return a number as a fraction, with what stands around it and between it and the whole number."""
    slash = next(at for at, each in enumerate(tokens) if each.kind == "code" and each.text == "/")
    first = next((at for at in range(slash) if _is_place(tokens[at])), slash)
    end = slash + 1
    while end < len(tokens) and (_is_place(tokens[end]) or tokens[end].text.isdigit()):
        end += 1
    below = "".join(each.text for each in tokens[slash + 1 : end])
    value = Fraction(number)
    if (fixed := re.sub(r"[#?]", "", below)).strip("0"):
        top, bottom = round(value * int(fixed)), int(fixed)
    else:
        top, bottom = value.limit_denominator(10 ** max(1, len(below)) - 1).as_integer_ratio()
    found = f"{top}/{bottom}"
    if between := _texts(tokens[first:slash]):
        whole, top = divmod(top, bottom)
        found = (
            f"{whole}{between}{top}/{bottom}" if whole and top else f"{top}/{bottom}" if top else str(whole)
        )
    return _texts(tokens[:first]) + found + _texts(tokens[end:])


def _is_place(token: Token) -> bool:
    return token.kind == "code" and token.text in ("0", "#", "?")


def _texts(tokens: tuple[Token, ...]) -> str:
    return "".join(each.text for each in tokens if each.kind == "text")
