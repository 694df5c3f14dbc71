"""Which way a text runs."""

import re
import unicodedata

_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def is_mixed(text: str) -> bool:
    """Whether anything in it may run from right to left."""
    return _RIGHT_TO_LEFT.search(text) is not None


def of(text: str) -> str:
    """ "ltr" or "rtl": the direction of the first letter that has one."""
    kinds = map(unicodedata.bidirectional, text)
    first = next((kind for kind in kinds if kind in ("L", "R", "AL")), "L")
    return "ltr" if first == "L" else "rtl"
