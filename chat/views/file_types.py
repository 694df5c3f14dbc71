"""The files that a page lets people choose. What is uploaded is judged by its content alone."""

from chat.attachments.document_types import TYPES

PICTURES = ("image/jpeg", "image/png", "image/webp", "image/gif")
ANY_TEXT = "text/*"  # such as source code, whose extensions are without number


def accepted(*, pictures: bool) -> str:
    """Return the `accept` attribute of a file input."""
    extensions = (f".{extension}" for each in TYPES for extension in each.extensions)
    return ",".join([*(PICTURES if pictures else ()), ANY_TEXT, *extensions])
