"""What the child that reads a document writes. Loaded with the first document, not with the server."""

from typing import Annotated

import msgspec

from .extraction import MAX_PAGES

MAX_NAME_CHARS = 100


class ChildOutput(msgspec.Struct):
    """Pages, or the name of a problem. `form`: the ending of the type that the content has."""

    form: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)] = ""
    pages: Annotated[list[str], msgspec.Meta(max_length=MAX_PAGES)] = []
    problem: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)] = ""


def decoded(output: bytes) -> ChildOutput:
    """Return the output. A wrong value ends the decoding at once. Raises ValueError."""
    return msgspec.json.decode(output, type=ChildOutput)
