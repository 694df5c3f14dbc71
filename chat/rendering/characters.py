"""Characters that are not to be seen, or that turn round what stands beside them, made visible.

Each is replaced by exactly one other, so that an offset in a text stays what it was.
"""

import re

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
KEPT = "\t\n\r"
OVERRIDES = "\u202d\u202e"  # write a file's ending or a host backwards
EMBEDDINGS = "\u202a\u202b\u202c\u2066\u2067\u2068\u2069"  # right in prose; in code they hide what is run

_PICTURES = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in KEPT} | {0x7F: "\u2421"}
_OTHERS = [*range(0x80, 0xA0), *range(0xD800, 0xE000), *map(ord, OVERRIDES)]
_VISIBLE = _PICTURES | dict.fromkeys(_OTHERS, REPLACEMENT)
_HIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202d\u202e]")
_IN_CODE = dict.fromkeys(map(ord, EMBEDDINGS), REPLACEMENT)


def neutralise_controls(text: str) -> str:
    """The text with control characters, lone surrogates and directional overrides shown as a mark each."""
    return text.translate(_VISIBLE) if _HIDDEN.search(text) else text


def neutralise_code(code: str) -> str:
    """Code reads in one direction only (see Trojan Source, CVE-2021-42574)."""
    return code if code.isascii() else code.translate(_IN_CODE)
