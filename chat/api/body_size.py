"""The size of a call without its files, which alone may be large."""

from typing import Any

from django.utils.translation import gettext as _

from chat.exceptions import PayloadTooLarge
from chat.limits import MAX_BODY_BYTES
from chat.upstream.pictures import pictures_of

from .document_parts import documents_of
from .field_checks import Object


def check_text_size(fields: Object, messages: list[Object]) -> None:
    """Raise PayloadTooLarge if more than MAX_BODY_BYTES of `fields` are no files in its parsed `messages`.

    The server lets a large body in for the data URLs that it sees in it. Any text may look like one.
    """
    pictures = sum(len(picture.url) for message in messages for picture in pictures_of(message))
    documents = sum(base64_length(len(each.content)) for each in documents_of(messages))
    if characters_of(fields) - pictures - documents > MAX_BODY_BYTES:
        raise PayloadTooLarge(_("The request is larger than 1 MiB. Send less."))


def base64_length(size: int) -> int:
    return -(-size // 3) * 4


def characters_of(value: Any) -> int:
    """Return the characters of all strings in a JSON value, names included."""
    found, waiting = 0, [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            found += len(each)
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, dict):
            waiting += [*each, *each.values()]
    return found
