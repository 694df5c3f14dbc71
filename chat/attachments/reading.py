"""Reading of an uploaded file: by its content, it is a picture or a document."""

from typing import IO

from .confined.pictures import HEIF_BRANDS
from .decoding import EncodedPicture, decode
from .extraction import Extracted, extract

PICTURE_HEAD_BYTES = 12
PICTURE_BEGINNINGS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a")


def read(file: IO[bytes], name: str) -> EncodedPicture | Extracted:
    """Return the picture in `file`, or the text of the document. Blocks as `decode` and `extract` do.

    `file` must be a real file. `name` is the client's: only among documents its extension matters. Raises
    what `decode` and `extract` raise.
    """
    file.seek(0)
    head = file.read(PICTURE_HEAD_BYTES)
    return decode(file) if is_picture(head) else extract(file, name)


def is_picture(head: bytes) -> bool:
    """Return True if these are the first bytes of a picture, also of a kind that can't be read here."""
    if head.startswith(PICTURE_BEGINNINGS):
        return True
    in_container = head[8:12]
    return (head[:4] == b"RIFF" and in_container == b"WEBP") or (
        head[4:8] == b"ftyp" and in_container in HEIF_BRANDS
    )
