"""Pictures in the messages of a request: data URLs, and addresses for the servers that fetch them."""

import base64
import ipaddress
import re
import unicodedata
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from chat.exceptions import ModelCannotSee, PayloadTooLarge
from chat.limits import MEGABYTE
from chat.rendering.links import is_web_address
from chat.upstream.catalog import LlmModel
from chat.upstream.pictures import MAX_PICTURE_BYTES, PromptPicture, pictures_of

from . import data_urls
from .passed_fields import unknown_fields
from .refusals import Object, invalid

PICTURE_PART_TYPES = ("image_url", "input_image")
MAX_ADDRESS_CHARS = 8_000
PICTURE_MAGIC = {
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
# A name with a dot. The last parts of names that only a private network knows: RFC 6761, RFC 8375, RFC 9476,
# ICANN's list of names that collide, and those of container networks.
NAME = re.compile(r"(?:[\w-]+\.)+(?:xn--[a-z0-9-]+|[^\W\d_]+)")
PRIVATE_NAMES = {
    "alt", "arpa", "consul", "corp", "docker", "home", "internal", "intranet", "invalid", "lan", "local",
    "localdomain", "localhost", "mail", "onion", "private", "svc", "test",
}  # fmt: skip
# Beside those that `is_global` knows: what leads to any address of IPv4 (NAT64, RFC 6052; the deprecated
# forms of RFC 4291 and RFC 2765), site-local addresses (RFC 3879), and Azure's own server.
NOT_PUBLIC = [
    ipaddress.ip_network(each)
    for each in ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96", "fec0::/10", "168.63.129.16/32")
]
NO_PICTURE = gettext_noop("“%(name)s” doesn’t hold a JPEG, PNG, WebP or GIF file.")
NO_URL = gettext_noop("“%(name)s” must be a data URL (data:image/png;base64,…) or an https address.")
NO_BASE64 = gettext_noop("“%(name)s” isn’t valid base64.")
NOT_FETCHED = gettext_noop(
    "“%(name)s” must be a data URL (data:image/png;base64,…): this model’s server fetches no addresses. "
    "Models of a server with OpenAI’s API or behind an AI Gateway take addresses."
)


def picture_of(part: Object, where: str, *, takes_all: bool) -> PromptPicture:
    """Return the picture of a part, in the shape of OpenAI's chat API or of its responses API.

    Raises InvalidField. Only the type is checked, not the picture itself: the model's server decodes it.
    """
    more = unknown_fields(part, {"image_url", "detail"}, where, takes_all=takes_all)
    given: Any = part["image_url"]
    where = f"{where}.image_url"
    shown = {"detail": part["detail"]} if part.get("detail") else {}
    if isinstance(given, dict):
        shown |= {"detail": given["detail"]} if given.get("detail") else {}
        shown |= unknown_fields(given, {"url", "detail"}, where, takes_all=takes_all)
        where, given = f"{where}.url", given["url"]
    if shown:
        more["image_url"] = shown
    content = bytes_of(given, where)
    if content is None:
        return PromptPicture("", 0, url=checked_address(given, where), more=more)
    media_type = media_type_of(content)
    if not media_type:
        raise invalid(NO_PICTURE, where)
    return PromptPicture(media_type, len(content), url=data_url(media_type, content), more=more)


def bytes_of(url: str, where: str) -> bytes | None:
    """Return the bytes of a data URL; None if it is another URL. Raises InvalidField."""
    try:
        return data_urls.parse(url)
    except data_urls.NotBase64 as error:
        raise invalid(NO_BASE64, where) from error


def media_type_of(content: bytes) -> str:
    """Return the type of a picture by its first bytes; "" for anything else."""
    found = (name for name, beginnings in PICTURE_MAGIC.items() if content.startswith(beginnings))
    return next(found, "")


def data_url(media_type: str, content: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def checked_address(url: str, where: str) -> str:
    """Return a web address. Raises InvalidField for any other, and for one in the model server's network.

    Programs read unusual addresses in different ways: a "\\" ends the host for some of them. So those with
    one, with spaces or with a user's name are refused.
    """
    try:
        parts = urlsplit(url)
        host = unicodedata.normalize("NFKC", parts.hostname or "").rstrip(".")
    except ValueError:
        raise invalid(NO_URL, where) from None
    is_plain = is_web_address(url) and "\\" not in url and "@" not in parts.netloc
    if not is_plain or not _is_public(host) or len(url) > MAX_ADDRESS_CHARS:
        raise invalid(NO_URL, where)
    return url


def _is_public(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        # The last part of a public name is no number, as in old forms of addresses.
        last = host.rpartition(".")[2]
        return bool(NAME.fullmatch(host)) and last not in PRIVATE_NAMES
    return address.is_global and not address.is_multicast and not any(address in each for each in NOT_PUBLIC)


def check_pictures(messages: list[Object], model: LlmModel) -> None:
    """Raise ModelCannotSee, InvalidField or PayloadTooLarge if the model or its server cannot take them."""
    pictures = [each for message in messages for each in pictures_of(message)]
    if pictures and not model.vision:
        raise ModelCannotSee(_("This model can’t see pictures. Choose another model."))
    if not model.takes_all:
        _check_for_cloudflare(pictures, messages)


def _check_for_cloudflare(pictures: Iterable[PromptPicture], messages: list[Object]) -> None:
    for index, message in enumerate(messages):
        if any(not each.size for each in pictures_of(message)):
            raise invalid(NOT_FETCHED, f"messages[{index}].content")
    if sum(picture.size for picture in pictures) > MAX_PICTURE_BYTES:
        words = _("The pictures of a request can have %(most)s MB together.")
        raise PayloadTooLarge(words % {"most": MAX_PICTURE_BYTES // MEGABYTE})
