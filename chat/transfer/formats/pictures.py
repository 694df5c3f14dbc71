"""Pictures that stand in a text as data URLs: taken out, and their places named.

Other chats write them into Markdown, HTML and lists of parts. In a prompt they would be thousands of tokens
that no model can read as a picture.
https://www.rfc-editor.org/rfc/rfc2397
"""

import base64
import binascii
import re
from dataclasses import dataclass
from html import unescape
from urllib.parse import unquote_to_bytes

HEAD = re.compile(
    r"data:(?P<type>(?P<kind>image|audio|video|application|font|text)/[a-z0-9.+-]{1,80})"
    r"(?P<options>(?:;[a-z0-9_.=+-]{1,80}){0,4}),",
    re.IGNORECASE,
)
# Base64 in one piece, in the lines of a mail, or broken by other characters; and percent-encoded text. No
# group is possessive: before 3.11.5, Python kept a part of an attempt that failed.
BASE64 = re.compile(
    r"""\s{0,2}[A-Za-z0-9+/=_%-]*+
    (?:[^\sA-Za-z0-9+/=_%()<>"'`\[\]{}-]{1,8}+[A-Za-z0-9+/=_%-]{40,}+)*
    (?:\r?\n[ \t]*+[A-Za-z0-9+/_-]{60,76}={0,2}(?![A-Za-z0-9+/_-]))*
    (?:(?<=[A-Za-z0-9+/_-]{60})\r?\n[ \t]*+[A-Za-z0-9+/_-]{1,75}+(?:={1,2}|(?=[)"'>]|\s*+$|\r?\n\s*\n)))?""",
    re.VERBOSE,
)
ENCODED = re.compile(r"[^\s\"'<>()\\]*+")
# A place of one of them, while the rest of the text is looked at. No text has a NUL.
PLACE = "\0([0-9]{1,9})\0"
IN_MARKDOWN = re.compile(rf"!?\[([^\[\]\0]{{0,500}})\]\([ ]{{0,3}}<?{PLACE}[^)\0\s]*+[^)\0]{{0,300}}\)")
IN_DEFINITION = re.compile(rf"^ {{0,3}}\[([^\[\]\0]{{1,500}})\]:[ ]{{0,3}}<?{PLACE}>?", re.MULTILINE)
IN_HTML = re.compile(rf"<[a-z]{{1,10}}\s([^<>\0]*+){PLACE}([^<>\0]*+)>", re.IGNORECASE)
BARE = re.compile(PLACE)
NAME = re.compile(r"\b(?:alt|title|download)\s{0,3}=\s{0,3}[\"']([^\"'\0]{1,500})[\"']", re.IGNORECASE)
WORDS = {"image": "picture", "audio": "recording", "video": "recording"}  # other kinds: file
MIN_BARE_CHARS = 64  # shorter ones are examples in texts about data URLs
MAX_NAME_CHARS = 90
SIGNATURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM")


@dataclass(frozen=True, slots=True)
class DataURL:
    """A file that stood in a text. `content` is None if it is broken. `source`: as it stood there."""

    kind: str
    media_type: str
    content: bytes | None
    source: str
    name: str = ""

    @property
    def word(self) -> str:
        return WORDS.get(self.kind, "file")


def take_out(text: str) -> tuple[str, list[DataURL]]:
    """Return the text with each data URL replaced by the name of what it was, and these."""
    if "data:" not in text.lower():
        return text, []
    pieces: list[str] = []
    found: list[DataURL] = []
    done = 0
    while head := HEAD.search(text, done):
        each = _read(text, head)
        end = head.start() + len(each.source)
        pieces += [text[done : head.start()], f"\0{len(found)}\0"]
        found.append(each)
        done = end
    return _named("".join([*pieces, text[done:]]), found)


def data_url(value: str) -> DataURL | None:
    """Return what a value that is nothing but a data URL holds; None for another value."""
    value = value.strip()
    head = HEAD.match(value)
    return _read(value, head) if head else None


def _read(text: str, head: re.Match[str]) -> DataURL:
    is_base64 = ";base64" in head["options"].lower()
    body = (BASE64 if is_base64 else ENCODED).match(text, head.end())
    assert body
    content = decoded(body[0]) if is_base64 else unquote_to_bytes(body[0])
    return DataURL(
        head["kind"].lower(), head["type"].lower(), content or None, text[head.start() : body.end()]
    )


def decoded(body: str) -> bytes | None:
    """Return the bytes of Base64 in either alphabet, also without its padding; None if it is broken."""
    plain = "".join(body.replace("%2B", "+").replace("%2F", "/").replace("%3D", "=").split())
    plain = plain.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def is_picture(content: bytes | None) -> bool:
    """Return True for a picture that can be an attachment; other bytes would be read as a document."""
    return content is not None and content.startswith(SIGNATURES)


def _named(text: str, found: list[DataURL]) -> tuple[str, list[DataURL]]:
    """Return the text with names in place of the marked places, and what was named."""
    named: list[DataURL] = []

    def name(number: str, words: str) -> str:
        each = found[int(number)]
        words = " ".join(unescape(words).split())[:MAX_NAME_CHARS] or default_name(each)
        named.append(DataURL(each.kind, each.media_type, each.content, each.source, words))
        return f"[{each.word}: {words}]"

    def in_html(place: re.Match[str]) -> str:
        words = NAME.search(place[1]) or NAME.search(place[3])
        return name(place[2], words[1] if words else "")

    def in_text(place: re.Match[str]) -> str:
        source = found[int(place[1])].source
        return source if len(source) < MIN_BARE_CHARS else name(place[1], "")

    text = IN_MARKDOWN.sub(lambda place: name(place[2], place[1]), text)
    text = IN_DEFINITION.sub(lambda place: name(place[2], place[1]), text)
    return BARE.sub(in_text, IN_HTML.sub(in_html, text)), named


def default_name(each: DataURL) -> str:
    """Return a name for a file that has none, such as "picture.png"."""
    return f"{each.word}.{each.media_type.rpartition('/')[2].partition('+')[0]}"
