"""Characters that are invisible or change the direction of a text: their replacement, and that direction.

Each is replaced by exactly one character, so that offsets in the text stay the same.
"""

import re
import unicodedata

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
OVERRIDES = "\u202d\u202e"  # can show a file's extension or a host name reversed
# The masks of equations consist of these, so that a text must not contain any (see `maths`). They are private
# use characters at the end of Unicode, which no known font uses.
RESERVED = "\U0010f800\U0010fffd"  # the first and the last one
# Of these, the last ones stand in a source for the parser, see `emphasis` and `maths`. Inserted is JOINER: a
# letter between a mark and the punctuation beside it, or before a line break.
JOINER = "\U0010fffd"
TILDE = "\U0010fffc"  # instead of a tilde that strikes nothing
PIPE = "\U0010fffb"  # instead of a pipe that divides no cell of a table
STAR = "\U0010fffa"  # instead of a star that is a sign of multiplication
# Instead of an underscore and of brackets in a bare address.
UNDERSCORE, BRACKET, END_BRACKET = "\U0010fff9", "\U0010fff8", "\U0010fff7"
FIRST_STAND_IN = END_BRACKET
# Inserted: the pipe at the beginning of a table's head that has none. The form feed is white space to the
# parser, and stands in no other source, see `neutralise_controls`.
HEAD = f"|{JOINER}\f"
EMBEDDINGS = "\u202a\u202b\u202c\u2066\u2067\u2068\u2069"  # legitimate in prose; in code they can disguise it

_PICTURES = {chr(code): chr(0x2400 + code) for code in range(32)} | {"\x7f": "\u2421"}
_HIDDEN = re.compile(  # all control characters except tab, line feed and carriage return
    f"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff{OVERRIDES}{RESERVED[0]}-\U0010ffff]"
)
_STAND_INS = {ord(JOINER): None, ord("\f"): None, ord(TILDE): "~", ord(PIPE): "|", ord(STAR): "*"} | {
    ord(UNDERSCORE): "_",
    ord(BRACKET): "[",
    ord(END_BRACKET): "]",
}
_STAND_IN = re.compile(f"[{''.join(map(chr, _STAND_INS))}]")
_IN_CODE = dict.fromkeys(map(ord, EMBEDDINGS), REPLACEMENT)
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def neutralise_controls(text: str) -> str:
    """Replace each control character, lone surrogate and directional override by a visible character."""
    return _HIDDEN.sub(lambda found: _PICTURES.get(found[0], REPLACEMENT), text)


def restored(text: str) -> str:
    """Return a text of the parser with what the stand-ins stand for."""
    if text.isascii() or not _STAND_IN.search(text):
        return text
    return text.replace(HEAD, "").replace(f"{JOINER}\n", "").translate(_STAND_INS)


def inserted(source: str) -> int:
    """Return the number of characters in a source that were not typed."""
    return source.count(JOINER) + source.count(f"{JOINER}\n") + 2 * source.count(HEAD)


def neutralise_code(code: str) -> str:
    """Replace directional embeddings, which could disguise code (see Trojan Source, CVE-2021-42574)."""
    return code if code.isascii() else code.translate(_IN_CODE)


def is_bidirectional(text: str) -> bool:
    """Return True if the text contains a character of a right-to-left script."""
    return _RIGHT_TO_LEFT.search(text) is not None


def direction_of(text: str) -> str:
    """Return "ltr" or "rtl", the direction of the first character that has one; "ltr" if none has."""
    kinds = map(unicodedata.bidirectional, text)
    first = next((kind for kind in kinds if kind in ("L", "R", "AL")), "L")
    return "ltr" if first == "L" else "rtl"
