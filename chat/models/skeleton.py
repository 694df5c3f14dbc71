"""What a name looks like: two names that look alike, in whatever case, have a digest in common.

The skeleton is that of UTS #39, https://www.unicode.org/reports/tr39/#Confusable_Detection. Its table is a
file beside this one and no library's, because digests are stored: they must not change with an update. Only
letters and digits are in it; a name can have nothing else but `.@+-_`.
"""

import hashlib
import json
import unicodedata
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("confusables.json")


def digests(name: str, address: str) -> set[str]:
    """Those of an account's name and e-mail address; an empty address has none.

    A name counts as it is written, where `I` looks like `l`, and without its case, where it does not. Nobody
    writes an address for its look, so that counts without its case only.
    """
    folded, written = unicodedata.normalize("NFKC", name.casefold()), unicodedata.normalize("NFKC", name)
    looks = {skeleton(folded), skeleton(written)} if name else set()
    if address:
        looks.add(skeleton(unicodedata.normalize("NFKC", address.casefold())))
    return {hashlib.sha256(look.encode("utf-8", "surrogatepass")).hexdigest() for look in looks}


def skeleton(text: str) -> str:
    """The text with each character replaced by what it looks like, in lower case."""
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFD", decomposed.translate(_prototypes())).casefold()


@cache
def _prototypes() -> dict[int, str]:
    look_alikes = json.loads(TABLE.read_text("utf-8"))["look_alikes"]
    return {ord(each): prototype for prototype, those in look_alikes.items() for each in those}
