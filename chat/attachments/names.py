"""Names of attachments: the client's file name, made harmless."""

import unicodedata

from chat.models.attachment import EXTENSIONS, LONGEST_NAME

UNSAFE_CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")  # control, direction, surrogates, line breaks
LONGEST_EXTENSION = 5


def clean(name: str, media_type: str) -> str:
    """Return the last part of the client's path, with the extension of what is stored; at most 100 long.

    Without control characters and without those that change the direction of text, which could make
    "gpj.exe" read as "exe.jpg".
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(c for c in last if unicodedata.category(c) not in UNSAFE_CATEGORIES)
    stem, dot, extension = " ".join(shown.split()).rpartition(".")
    if not dot or not stem or len(extension) > LONGEST_EXTENSION or not extension.isalnum():
        stem = " ".join(shown.split())
    ending = f".{EXTENSIONS[media_type]}"
    return (stem.strip(". ")[: LONGEST_NAME - len(ending)].rstrip(". ") or "picture") + ending
