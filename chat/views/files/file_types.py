"""The files that a page lets people choose. What is uploaded is judged by its content alone."""

from django.conf import settings

from chat.files.document_types import KNOWN_DOCUMENT_TYPES

PICTURES = ("image/jpeg", "image/png", "image/webp", "image/gif")
ANY_TEXT = "text/*"  # such as source code, whose extensions are without number


def accepted(*, pictures: bool) -> str:
    """Return the `accept` attribute of a file input: only an account reads types that are converted."""
    readable = (
        each for each in KNOWN_DOCUMENT_TYPES if settings.CLOUDFLARE_ACCOUNT_ID or not each.is_converted
    )
    extensions = (f".{extension}" for each in readable for extension in each.extensions)
    return ",".join([*(PICTURES if pictures else ()), ANY_TEXT, *extensions])
