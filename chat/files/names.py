"""Names of attachments: the client's file name, made harmless."""

import unicodedata

from chat.limits import MAX_FILE_NAME_CHARS
from chat.models.attachment import EXTENSIONS

UNSAFE_CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")  # control, direction, surrogates, line breaks
MAX_EXTENSION_CHARS = 8  # such as "markdown"


def clean(name: str, media_type: str) -> str:
    """Return the last part of the client's path, with the extension of a stored picture; at most 100 long.

    Without control characters and without those that change the direction of text, which could make
    "gpj.exe" read as "exe.jpg".
    """
    if media_type not in EXTENSIONS:
        return _clean_document(name)
    stem, _extension = _parts(name)
    ending = f".{EXTENSIONS[media_type]}"
    return (stem.strip(". ")[: MAX_FILE_NAME_CHARS - len(ending)].rstrip(". ") or "picture") + ending


def _clean_document(name: str) -> str:
    """Keep the client's extension: the stored bytes are the client's."""
    stem, extension = _parts(name)
    ending = f".{extension}" if extension else ""
    return (stem.strip(". ")[: MAX_FILE_NAME_CHARS - len(ending)].rstrip(". ") or "document") + ending


def _parts(name: str) -> tuple[str, str]:
    """Return the stem and the extension, without its dot; "" if there is none."""
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(c for c in last if unicodedata.category(c) not in UNSAFE_CATEGORIES)
    whole = " ".join(shown.split())
    stem, dot, extension = whole.rpartition(".")
    if not dot or not stem or len(extension) > MAX_EXTENSION_CHARS or not extension.isalnum():
        return whole, ""
    return stem, extension
