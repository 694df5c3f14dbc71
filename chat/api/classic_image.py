"""The field `image` of Workers AI's classic models that see: base64, or a list of bytes, beside the messages.

It becomes a part of the last question, which all models that see understand.
"""

import base64
import binascii
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest

from .field_checks import Object, get_field
from .picture_parts import PICTURE_MAGIC

IMAGE_FIELD = "image"


def with_image(sent: Object) -> Object:
    """Return the fields with the picture of `image` in the last message of a user. Raises BadRequest."""
    image = get_field(sent, IMAGE_FIELD, (str, list))
    if image is None or not settings.ATTACHMENTS:
        return sent
    url = image if isinstance(image, str) and image.startswith("data:") else _data_url(image)
    part = {"type": "image_url", "image_url": {"url": url}}
    fields = {name: value for name, value in sent.items() if name not in (IMAGE_FIELD, "prompt", "messages")}
    return fields | {"messages": _with_part(_messages(sent), part)}


def _messages(sent: Object) -> list[Any]:
    prompt = get_field(sent, "prompt", (str,))
    if prompt is None:
        return list(get_field(sent, "messages", (list,), []))
    if sent.get("messages") is not None:
        raise BadRequest(_("Send either “messages” or “prompt”."))
    return [{"role": "user", "content": prompt}]


def _with_part(messages: list[Any], part: Object) -> list[Any]:
    for index in reversed(range(len(messages))):
        message = messages[index]
        if isinstance(message, dict) and message.get("role") == "user":
            content = message.get("content")
            parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
            shown = message | {"content": [*parts, part]}
            return [*messages[:index], shown, *messages[index + 1 :]]
    raise BadRequest(_("Only a user’s message can have pictures and files."))


def _data_url(image: str | list[Any]) -> str:
    content = _content(image)
    for media_type, beginnings in PICTURE_MAGIC.items():
        if content.startswith(beginnings):
            return f"data:{media_type};base64,{base64.b64encode(content).decode()}"
    raise _no_picture()


def _content(image: str | list[Any]) -> bytes:
    try:
        return base64.b64decode(image, validate=True) if isinstance(image, str) else bytes(image)
    except (binascii.Error, TypeError, ValueError) as error:
        raise _no_picture() from error


def _no_picture() -> BadRequest:
    return BadRequest(_("“image” must be a JPEG, PNG, WebP or GIF file, as base64 or as a list of bytes."))
