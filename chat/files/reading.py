"""Reading of an uploaded file: by its content, it is a picture or a document."""

from typing import IO

from .confined.pictures import PICTURE_HEAD_BYTES, is_picture
from .decoding import EncodedPicture, decode
from .extraction import Extracted, extract


def read(file: IO[bytes], name: str) -> EncodedPicture | Extracted:
    """Return the picture in `file`, or the text of the document. Blocks as `decode` and `extract` do.

    `file` must be a real file. `name` is the client's: only among documents its extension matters. Raises
    what `decode` and `extract` raise.
    """
    file.seek(0)
    head = file.read(PICTURE_HEAD_BYTES)
    return decode(file) if is_picture(head) else extract(file, name)
