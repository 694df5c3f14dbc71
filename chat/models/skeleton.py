"""Skeletons of names: two names that look alike, in whatever case, have a digest in common.

The skeleton is that of UTS #39, https://www.unicode.org/reports/tr39/#Confusable_Detection. Its table is a
file in this directory instead of a library's, because digests are stored: they must not change with an
update. The table covers letters and digits only; the other characters that a name may contain are `.@+-_`.
"""

import hashlib
import json
import unicodedata
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("confusables.json")


def digests(name: str, address: str) -> set[str]:
    """Return the digests (hex) of an account's name and e-mail address; an empty address has none.

    A name has two: as it is written, where `I` looks like `l`, and case-folded, where `i` does not. An
    address has the case-folded one only, because an address is not chosen for its look.
    """
    folded, normalized = unicodedata.normalize("NFKC", name.casefold()), unicodedata.normalize("NFKC", name)
    looks = {skeleton(folded), skeleton(normalized)} if name else set()
    if address:
        looks.add(skeleton(unicodedata.normalize("NFKC", address.casefold())))
    return {hashlib.sha256(look.encode("utf-8", "surrogatepass")).hexdigest() for look in looks}


def skeleton(text: str) -> str:
    """Return the text with each character replaced by the prototype that it looks like, case-folded."""
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFD", decomposed.translate(_prototypes())).casefold()


@cache
def _prototypes() -> dict[int, str]:
    look_alikes = json.loads(TABLE.read_text("utf-8"))["look_alikes"]
    return {ord(each): prototype for prototype, those in look_alikes.items() for each in those}
