"""Emphasis that is meant, and that CommonMark does not see: the parser is shown a source that says so.

A mark beside Chinese, Japanese or Korean opens and closes whatever punctuation stands at its other side:
https://github.com/tats-u/markdown-cjk-friendly/blob/main/specification.md. An open mark closes before a
letter as well, as in “**Note:**the rest”. One tilde strikes nothing, and signs of multiplication and powers
between digits emphasise nothing.
"""

import re
import unicodedata

from .characters import JOINER, STAR, TILDE

_SINGLE_TILDE = re.compile(r"(?<![~\\])~(?!~)")
# “2*3*4”, and “2**3 = 8 and 2**4 = 16”; but “3.14**159**26” emphasises digits.
_BETWEEN_DIGITS = re.compile(r"(?<=\d)(?:\*(?=\d)|\*\*(?P<power>\d[^*\n]{0,200})(?<=\d)\*\*(?=\d))")
_RUN = re.compile(r"\n|\*+|~~+")
# What a source must contain to be changed: a mark between punctuation and a letter; in ASCII, in this order.
_BEFORE_WORD = re.compile(r"[*~](?<=[^\w\s*~\\][*~])[*~]*\w")
_BESIDE_WORD = re.compile(r"[*~](?:(?<=[^\w\s*~\\][*~])[*~]*[^\s*~]|(?<=[^\s*~\\][*~])[*~]*[^\w\s*~])")
_ENDS_SENTENCE = frozenset(".,:;!?…\"'”’»")

# “CJK characters” of the amendment, and the variation selectors that may follow one.
_CJK = re.compile(
    "[\u1100-\u11ff\u20a9\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u2ef3\u2f00-\u2fd5\u2ff0-\u303e\u3041-\u3247"
    "\u3250-\ua48c\ua490-\ua4c6\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b"
    "\uff01-\uffee\ufe00-\ufe0e\U00016fe0-\U0001b2fb\U0001d300-\U0001d376\U0001f200\U0001f202\U0001f210-\U0001f219"
    "\U0001f21b-\U0001f22e\U0001f230\U0001f231\U0001f237\U0001f23b\U0001f240-\U0001f265\U00020000-\U0003fffd"
    "\U000e0100-\U000e01ef]"
)


def amended(source: str) -> str:
    """Return the source with the stand-ins that make the parser see this emphasis, and no other."""
    if "~" in source:
        source = _SINGLE_TILDE.sub(TILDE, source)
    if "*" not in source and "~~" not in source:
        return source
    source = _BETWEEN_DIGITS.sub(_product, source)
    if not (_BEFORE_WORD if source.isascii() else _BESIDE_WORD).search(source):
        return source
    out: list[str] = []
    done = 0
    opened: dict[str, bool] = {}  # from a mark to True if the last one in this line certainly opens
    for match in _RUN.finditer(source):
        if match[0] == "\n":
            opened.clear()
            continue
        at = _place_of_joiner(source, match, opened)
        if at is not None:
            out += [source[done:at], JOINER]
            done = at
    return "".join([*out, source[done:]]) if out else source


def _product(found: re.Match[str]) -> str:
    is_meant = found["power"] and " " not in found["power"]
    return found[0] if is_meant else found[0].replace("*", STAR)


def _place_of_joiner(source: str, match: re.Match[str], opened: dict[str, bool]) -> int | None:
    """Return the place beside this mark where punctuation must look like a letter, and note what it opens."""
    (begin, end), mark = match.span(), match[0]
    before, after = source[begin - 1 : begin], source[end : end + 1]
    is_open = opened.get(mark, False)
    if before == "\\":
        return None
    if not before.strip() or not after.strip():
        opened[mark] = bool(after.strip())
        return None
    left, right = _is_punctuation(before), _is_punctuation(after)
    is_cjk = bool(_CJK.match(before) or _CJK.match(after))
    if left == right:
        opened[mark] = (left or is_cjk) and not is_open
        return None
    if is_cjk or (left and is_open and _may_end(source, begin, mark)):
        opened[mark] = not is_open
        return begin if left else end
    opened[mark] = left
    return None


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _may_end(source: str, at: int, mark: str) -> bool:
    """Return True if the punctuation before this place can end what a mark emphasises.

    A single star is a sign of multiplication as well: “x *(y + z)*w”.
    """
    last = source[at - 1]
    if mark == "*" and last not in _ENDS_SENTENCE:
        return False
    if last in "\"'":
        return not source[max(0, at - 2) : at - 1].isspace()
    return unicodedata.category(last) not in ("Ps", "Pi") and last != "<"
