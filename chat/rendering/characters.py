"""Replacement of characters that are invisible, or that reverse the text around them, by visible ones.

Each is replaced by exactly one character, so that offsets in the text stay the same.
"""

import re

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
KEPT = "\t\n\r"
OVERRIDES = "\u202d\u202e"  # can show a file's extension or a host name reversed
EMBEDDINGS = "\u202a\u202b\u202c\u2066\u2067\u2068\u2069"  # legitimate in prose; in code they can disguise it

_PICTURES = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in KEPT} | {0x7F: "\u2421"}
_OTHERS = [*range(0x80, 0xA0), *range(0xD800, 0xE000), *map(ord, OVERRIDES)]
_VISIBLE = _PICTURES | dict.fromkeys(_OTHERS, REPLACEMENT)
_HIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202d\u202e]")
_IN_CODE = dict.fromkeys(map(ord, EMBEDDINGS), REPLACEMENT)


def neutralise_controls(text: str) -> str:
    """Replace each control character, lone surrogate and directional override by a visible character."""
    return text.translate(_VISIBLE) if _HIDDEN.search(text) else text


def neutralise_code(code: str) -> str:
    """Replace directional embeddings, which could disguise code (see Trojan Source, CVE-2021-42574)."""
    return code if code.isascii() else code.translate(_IN_CODE)
