"""The field `image` of Workers AI's classic models that see: base64, or a list of bytes, beside the messages.

It becomes a part of the last question, which all models that see understand.
"""

from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest

from . import data_urls
from .picture_parts import data_url, media_type_of
from .refusals import WRONG_TYPE, InvalidField, Object, invalid

IMAGE_FIELD = "image"


def with_image(sent: Object) -> Object:
    """Return the fields with the picture of `image` in the last message of a user. Raises BadRequest."""
    image = sent.get(IMAGE_FIELD)
    if image is None or not settings.ATTACHMENTS:
        return sent
    url = _data_url(image)
    part = {"type": "image_url", "image_url": {"url": url}}
    fields = {name: value for name, value in sent.items() if name not in (IMAGE_FIELD, "prompt", "messages")}
    return fields | {"messages": _with_part(_messages(sent), part)}


def _messages(sent: Object) -> list[Any]:
    prompt = sent.get("prompt")
    if prompt is None:
        messages = sent.get("messages") or []
        if not isinstance(messages, list):
            raise invalid(WRONG_TYPE, "messages", "invalid_type")
        return messages
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


def _data_url(image: Any) -> str:
    try:
        if isinstance(image, str):
            found = data_urls.parse(image)
            content = data_urls.from_base64(image) if found is None else found
        else:
            content = bytes(image) if isinstance(image, list) else b""
    except (TypeError, ValueError) as error:
        raise _no_picture() from error
    media_type = media_type_of(content)
    if not media_type:
        raise _no_picture()
    return data_url(media_type, content)


def _no_picture() -> InvalidField:
    words = _("“image” must be a JPEG, PNG, WebP or GIF file, as base64 or as a list of bytes.")
    return InvalidField(words, IMAGE_FIELD)
