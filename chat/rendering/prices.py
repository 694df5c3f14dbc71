"""Words and prices between two dollars, which are no equation: “$5 to $10”, “$10, R$ 5”, “$HOME and $”."""

import re
import unicodedata

_COMMANDS = re.compile(r"\\[A-Za-z]+\*?|\{[^{}]*\}")
_OPEN_GROUP = re.compile(r"\{[^{}]*\Z")
_WORDS = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2,}[,.;:]?\s+[A-Za-z]{2,}(?![A-Za-z0-9(^_=])")
_AMOUNT = re.compile(r"\s*[\d.,]+\S*\s+(?:[A-Za-z]{3,}|to|or|vs|in|at|on|of|is|a)(?![A-Za-z(^_])")

_MATHS_SIGN = re.compile(r"[\\^_=<>{}]")
_NUMBER = re.compile(r"\d")
_NO_FUNCTION = r"(?<![^\W\d_])(?!(?:arc)?(?:sin|cos|tan|log|exp|lim|max|min|mod|gcd)(?![a-z]))"
# What stands beside a price: a word that is no function, a border of a cell, “10 y 20”, other scripts.
_BESIDE_PRICE = re.compile(
    _NO_FUNCTION + r"(?:[^\W\d_]{3,}"
    r"|to|or|vs|in|at|on|of|is|and|if|by|as)(?![^\W\d_])|\||\d\s+[a-wyz]\s+\d|/[A-Za-z]{2}[,;]?\s"
    r"|[\u00df-\u024f\u0400-\u1cff\u2e80-\ud7ff\uf900-\ufaff]"
)
# Between two numbers, two letters are a word as well, unless something is calculated: “10 et 20”, “1.5bn; 5”.
_SHORT_WORD = re.compile(_NO_FUNCTION + r"[^\W\d_]{2}")
_CALCULATED = re.compile("[-+*/−×·]")
_FOREIGN_DOLLAR = re.compile(r"[^A-Za-z](?:[A-Z]{1,3})\Z")  # “…, R$”, “… (US$”
_PRICE_AFTER = re.compile(r"[ \xa0\u202f]?\d")


def is_prose(inner: str, *, growing: bool = False) -> bool:
    """Return True for words between two delimiters, such as “5 to 10” or “HOME and”, and for code.

    `growing`: the text ends there, so an open group of TeX may still hold words.
    """
    if "`" in inner:
        return True
    bare = _COMMANDS.sub("", inner)
    bare = _OPEN_GROUP.sub("", bare) if growing else bare
    return bool(_AMOUNT.match(bare) or _WORDS.search(bare))


def are_prices(inner: str, text: str, end: int) -> bool:
    """Return True for prices and what is between them. Two dollars enclose `inner`, the last at `end`."""
    if "\\" not in inner and any(unicodedata.category(each) == "Sc" for each in inner if each > "\x7f"):
        return True
    if _MATHS_SIGN.search(inner):
        return False
    begins_with_number = _NUMBER.match(inner) is not None
    if _FOREIGN_DOLLAR.search(inner) and (begins_with_number or _PRICE_AFTER.match(text, end)):
        return True
    if not begins_with_number:
        return False
    is_between_numbers = inner[-1].isdigit() and not _CALCULATED.search(inner)
    return bool(_BESIDE_PRICE.search(inner) or (is_between_numbers and _SHORT_WORD.search(inner)))
