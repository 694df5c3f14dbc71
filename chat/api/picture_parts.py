"""Pictures in the messages of a request: data URLs, and addresses for the servers that fetch them.

https://www.rfc-editor.org/rfc/rfc2397
"""

import base64
import binascii
import ipaddress
import re
import unicodedata
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from chat.exceptions import BadRequest, ModelCannotSee, PayloadTooLarge
from chat.limits import MEGABYTE
from chat.rendering.links import is_web_address
from chat.upstream.catalog import LlmModel
from chat.upstream.pictures import MAX_PICTURE_BYTES, PromptPicture, pictures_of

from .passed_fields import unknown_fields
from .refusals import WRONG_TYPE, InvalidField, Object, invalid

PICTURE_PART_TYPES = ("image_url", "input_image")
IMAGE_FIELD = "image"
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
# The media type, which may be missing, and parameters; the last one says whether base64 follows.
DATA_URL = re.compile(
    r"\s*data:(?P<type>[^;,]{0,200})(?P<parameters>(?:;[^;,]{0,200}){0,9}?)(?P<base64>;\s*base64\s*)?,", re.I
)
NON_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")
SPACES = re.compile(r"\s+")
URL_SAFE = bytes.maketrans(b"-_", b"+/")
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
        return parse_data_url(url)
    except NotBase64 as error:
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


class NotBase64(ValueError):
    """The data is marked as base64 and is none."""


def parse_data_url(url: str) -> bytes | None:
    """Return the bytes of a data URL; None if it is another URL. Raises NotBase64.

    Base64 may be percent-encoded, in lines, in the alphabet for URLs, and without its padding.
    """
    head = DATA_URL.match(url)
    if not head:
        return None
    data = url[head.end() :]
    if not head["base64"]:
        return unquote_to_bytes(SPACES.sub("", data))
    return from_base64(data)


def from_base64(data: str) -> bytes:
    """Return the bytes of base64 in any of its forms. Raises NotBase64."""
    try:
        return base64.b64decode(data, validate=True)  # nearly all of it
    except (binascii.Error, ValueError):
        pass
    encoded = unquote_to_bytes(data) if "%" in data else data.encode("utf-8", "surrogatepass")
    encoded = b"".join(encoded.split()).rstrip(b"=").translate(URL_SAFE)
    if NON_BASE64.search(encoded) or len(encoded) % 4 == 1:
        raise NotBase64("characters that are none of base64")
    return base64.b64decode(encoded + b"=" * (-len(encoded) % 4))


def with_image(sent: Object) -> Object:
    """Return the fields with the picture of `image` in the last message of a user. Raises BadRequest.

    Workers AI's classic models that see take it: base64, or a list of bytes, beside the messages.
    """
    image = sent.get(IMAGE_FIELD)
    if image is None or not settings.ATTACHMENTS:
        return sent
    url = _url_of(image)
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
    raise BadRequest(_("Only messages with the role “user” can have pictures and files."))


def _url_of(image: Any) -> str:
    try:
        if isinstance(image, str):
            found = parse_data_url(image)
            content = from_base64(image) if found is None else found
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
