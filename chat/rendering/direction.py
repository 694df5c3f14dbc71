"""The writing direction of a text."""

import re
import unicodedata

_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def is_mixed(text: str) -> bool:
    """Return True if the text contains a character of a right-to-left script."""
    return _RIGHT_TO_LEFT.search(text) is not None


def of(text: str) -> str:
    """Return "ltr" or "rtl", the direction of the first character that has one; "ltr" if none has."""
    kinds = map(unicodedata.bidirectional, text)
    first = next((kind for kind in kinds if kind in ("L", "R", "AL")), "L")
    return "ltr" if first == "L" else "rtl"
