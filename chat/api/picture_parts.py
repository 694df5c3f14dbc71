"""Pictures in the messages of a request: checked data URLs, which are passed on as they are."""

import base64
import binascii
import re
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest, ModelCannotSee, PayloadTooLarge
from chat.limits import MEGABYTE
from chat.upstream.catalog import LlmModel
from chat.upstream.pictures import MAX_PICTURE_BYTES, MAX_PICTURES, PromptPicture, pictures_of

from .field_checks import Object

PICTURE_PART_TYPES = ("image_url", "input_image")
# Some programs name JPEG after the extension of its files.
PICTURE_DATA_URL = re.compile(r"data:(image/(?:jpe?g|png|webp|gif));base64,", re.IGNORECASE)
SYNONYMS = {"image/jpg": "image/jpeg"}
PICTURE_MAGIC = {
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}


def is_picture(part: Object) -> bool:
    """Return True for a part with a picture, on a site that takes pictures."""
    return settings.ATTACHMENTS and part.get("type") in PICTURE_PART_TYPES


def picture_of(part: Object) -> PromptPicture:
    """Return the picture of a part, in the shape of OpenAI's chat API or of its responses API.

    Raises BadRequest. Only the type is checked, not the picture itself: the model's server decodes it.
    """
    url: Any = part.get("image_url")
    url = url.get("url") if isinstance(url, dict) else url
    found = PICTURE_DATA_URL.match(url) if isinstance(url, str) else None
    if not found:
        raise BadRequest(
            _("“image_url” must be a data URL (data:image/png;base64,…); addresses aren’t fetched.")
        )
    media_type = SYNONYMS.get(found[1].lower(), found[1].lower())
    try:
        content = base64.b64decode(url[found.end() :], validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadRequest(_("“%(name)s” isn’t valid base64.") % {"name": "image_url"}) from error
    if not content.startswith(PICTURE_MAGIC[media_type]):
        raise BadRequest(_("“image_url” doesn’t hold a picture of the type that it names."))
    return PromptPicture(media_type, len(content), url=f"data:{media_type};base64,{url[found.end() :]}")


def check_pictures(messages: list[Object], model: LlmModel) -> None:
    """Raise ModelCannotSee, BadRequest or PayloadTooLarge if the model or one request cannot take them."""
    pictures = [each for message in messages for each in pictures_of(message)]
    if pictures and not model.vision:
        raise ModelCannotSee(_("This model can’t see pictures. Choose another model."))
    _check_limits(pictures)


def _check_limits(pictures: Iterable[PromptPicture]) -> None:
    sizes = [picture.size for picture in pictures]
    if len(sizes) > MAX_PICTURES:
        raise BadRequest(_("A request can have %(most)s pictures.") % {"most": MAX_PICTURES})
    if sum(sizes) > MAX_PICTURE_BYTES:
        words = _("The pictures of a request can have %(most)s MB together.")
        raise PayloadTooLarge(words % {"most": MAX_PICTURE_BYTES // MEGABYTE})
