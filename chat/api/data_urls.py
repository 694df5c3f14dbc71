"""Data URLs as programs write them. https://www.rfc-editor.org/rfc/rfc2397"""

import base64
import binascii
import re
from urllib.parse import unquote_to_bytes

# The media type, which may be missing, and parameters; the last one says whether base64 follows.
HEAD = re.compile(
    r"\s*data:(?P<type>[^;,]{0,200})(?P<parameters>(?:;[^;,]{0,200}){0,9}?)(?P<base64>;\s*base64\s*)?,", re.I
)
NO_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")
SPACES = re.compile(r"\s+")
URL_SAFE = bytes.maketrans(b"-_", b"+/")


class NotBase64(ValueError):
    """The data is marked as base64 and is none."""


def parse(url: str) -> bytes | None:
    """Return the bytes of a data URL; None if it is another URL. Raises NotBase64.

    Base64 may be percent-encoded, in lines, in the alphabet for URLs, and without its padding.
    """
    head = HEAD.match(url)
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
    if NO_BASE64.search(encoded) or len(encoded) % 4 == 1:
        raise NotBase64("characters that are none of base64")
    return base64.b64decode(encoded + b"=" * (-len(encoded) % 4))
