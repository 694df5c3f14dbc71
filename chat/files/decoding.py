"""Decoding of uploaded pictures, each in a child process of its own (`confined/pictures.py`)."""

import json
from dataclasses import dataclass
from typing import IO

from django.utils.translation import gettext, gettext_noop

from .confined.pictures import MAX_LONG_SIDE_PIXELS, SIDE_PIXELS
from .confinement import ChildLimits, Expired, run_confined
from .problems import Unreadable

PICTURE_READER = "chat.files.confined.pictures"
DECODING_WALL_SECONDS = 15
MAX_DECODED_BYTES = 20_000_000  # of the child, whatever it wants to send
ADDRESS_SPACE_BYTES = 1_342_177_280  # 50 megapixels of WebP with transparency take a gibibyte
CPU_SECONDS = 10
MAX_HEAD_BYTES = 500  # of the line before the picture
# How a whole file of each type begins and ends: a child that is killed while it writes leaves a part.
EDGES = {
    "image/jpeg": (b"\xff\xd8\xff", b"\xff\xd9"),
    "image/png": (b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"),
}

INCOMPLETE = gettext_noop("This picture is damaged or incomplete. Add the whole file, or another copy.")
# By the word of the child: the code for programs, and the words for people.
REFUSALS = {
    "heic": (
        "not_a_picture",
        gettext_noop("HEIC and AVIF pictures can’t be read here. Save this one as a JPEG, then add that."),
    ),
    "type": (
        "not_a_picture",
        gettext_noop("This file isn’t a picture that can be read here: JPEG, PNG, WebP or GIF."),
    ),
    "pixels": (
        "too_many_pixels",
        gettext_noop("This picture has too many pixels. Make it smaller, then add it again."),
    ),
    "time": (
        "picture_took_too_long",
        gettext_noop("This picture took too long to read. Make it smaller, then add it again."),
    ),
    "head": ("not_a_picture", INCOMPLETE),
    "broken": ("broken_picture", INCOMPLETE),
}


@dataclass(frozen=True, slots=True)
class EncodedPicture:
    """An encoded picture: `media_type` is image/jpeg or image/png, `width` and `height` are in pixels."""

    content: bytes
    media_type: str
    width: int
    height: int


def decode(file: IO[bytes], side: int = 0) -> EncodedPicture:
    """Return the picture in `file`, encoded anew without its metadata.

    Blocks for up to `DECODING_WALL_SECONDS`. `side`: make it a square of so many pixels; 0 keeps its form.
    `file` must be a real file, which the child reads. Raises Unreadable.
    """
    limits = ChildLimits(ADDRESS_SPACE_BYTES, CPU_SECONDS, DECODING_WALL_SECONDS, MAX_DECODED_BYTES)
    try:
        return _checked(run_confined(PICTURE_READER, file, limits, *([str(side)] if side else [])))
    except Expired:
        raise _problem("time") from None


def _checked(output: bytes) -> EncodedPicture:
    """Return what the child has written. It is not trusted: the picture may have taken control of it."""
    end = output.find(b"\n", 0, MAX_HEAD_BYTES)
    head, content = output[: max(end, 0)], output[end + 1 :]
    try:
        match json.loads(head):
            case {"problem": str(name)}:
                raise _problem(name)
            case {"media_type": str(media_type), "width": int(width), "height": int(height)} if (
                media_type in EDGES
                and content.startswith(EDGES[media_type][0])
                and content.endswith(EDGES[media_type][1])
                and 0 < width <= MAX_LONG_SIDE_PIXELS
                and 0 < height <= MAX_LONG_SIDE_PIXELS
                and width * height <= SIDE_PIXELS * SIDE_PIXELS
            ):
                return EncodedPicture(content, media_type, width, height)
    except (ValueError, RecursionError):  # killed by a limit
        pass
    raise _problem("broken")


def _problem(name: str) -> Unreadable:
    code, words = REFUSALS.get(name, REFUSALS["broken"])
    return Unreadable(code, gettext(words))
