"""The text of mail: messages, mailboxes of several, and web pages that were saved as messages (MHTML)."""

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from itertools import pairwise
from urllib.parse import quote

from .mail_text import calendar_text, decoded_as, header_text, plain_text
from .text_encoding import decoded
from .web_page import html_text

HEADERS = ("Subject", "From", "To", "Cc", "Bcc", "Reply-To", "Date")
KNOWN = {*(name.lower() for name in HEADERS), "received", "message-id", "mime-version", "content-type"}
# Of a mailbox: the line before each message (RFC 4155), and what stands for one inside a text.
SEPARATOR = re.compile(rb"^From [^\r\n]*\r?\n(?=>?[A-Za-z][A-Za-z0-9-]*:)", re.MULTILINE)
ESCAPED_SEPARATOR = re.compile(rb"^>(>*From )", re.MULTILINE)
# Of the words of HTML that a plain text beside it has, unless it only says that there is HTML.
MIN_SHARE = 1 / 3
MAX_LACKING = 1 / 4  # of the words of tables in HTML, in a plain text
WORD = re.compile(r"\w+")
MARK = re.compile("~~|[\u2070-\u208e\xb2\xb3\xb9]")  # what is struck out, raised or lowered in HTML
TABLE_ROW = re.compile(r"^\| .*\|$", re.MULTILINE)
APPLE_SIZE = re.compile(rb"(\d{1,9}) *\n")  # of the message in a file of Apple's, in front of it
ADDRESS = re.compile(r"\(?https?://\S+")
BODIES = ("text/plain", "text/html")  # some programs give them a name as well
REPORTS = ("message/delivery-status", "message/disposition-notification", "message/feedback-report")
S_MIME = ("application/pkcs7-mime", "application/x-pkcs7-mime")
ENCRYPTED = "[This message is encrypted. Its text can’t be read here.]"
SIGNED, DATA = (bytes.fromhex(f"06092a864886f70d01070{kind}") for kind in (2, 1))  # object identifiers
HEAD_BYTES = 40  # in which the kind of the whole is told
OCTETS, PARTS_OF_OCTETS, CONTENT = 0x04, 0x24, 0xA0  # tags of BER (X.690)


def mail_pages(content: bytes) -> Iterator[str]:
    """Return the text of each message; the text of the file if it is none."""
    content = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if size := APPLE_SIZE.match(content):
        content = content[size.end() : size.end() + int(size[1])]
    starts = [found.start() for found in SEPARATOR.finditer(content)] if content[:5] == b"From " else []
    for start, end in pairwise([*(starts or [0]), len(content)]):
        message = message_from_bytes(ESCAPED_SEPARATOR.sub(rb"\1", content[start:end]) if starts else content)
        if KNOWN.isdisjoint(map(str.lower, message.keys())):
            yield decoded(content[start:end])
        else:
            yield _page_text(message) if _is_page(message) else _message_text(message)


def _message_text(message: Message) -> str:
    found: dict[str, list[str]] = {}
    for name, raw in message.raw_items():
        found.setdefault(name.lower(), []).append(header_text(str(raw)))
    lines = (f"{name}: {', '.join(found[name.lower()])}" for name in HEADERS if name.lower() in found)
    return "\n\n".join(filter(None, ("\n".join(lines), *_texts(message, is_root=True))))


def _texts(part: Message, is_root: bool = False) -> Iterator[str]:
    """Return the texts of a part, and the names of attachments in their places."""
    kind = part.get_content_type()
    if kind == "multipart/encrypted" or kind in S_MIME:
        yield from _enveloped(part)
    elif kind in REPORTS:
        yield "\n".join(
            f"{name}: {header_text(str(raw))}" for each in _children(part) for name, raw in each.raw_items()
        )
    elif kind == "message/rfc822" or kind == "message/global":
        yield from (_forwarded(each, part) for each in _children(part))
    elif kind == "multipart/alternative":
        yield from _alternative(_children(part))
    elif part.is_multipart():
        for each in _children(part):
            yield from _texts(each)
    elif kind == "text/calendar":
        yield calendar_text(_decoded(part))
    elif is_root and part.get_content_maintype() == "multipart":  # its boundary is missing
        yield plain_text(_decoded(part))
    elif _is_attachment(part) and not (is_root and part.get_content_maintype() == "text"):
        yield _attachment(part)
    else:
        yield html_text(_decoded(part)) if kind == "text/html" else plain_text(_decoded(part), *_flow(part))


def _enveloped(part: Message) -> Iterator[str]:
    content = _bytes(part)
    if SIGNED not in content[:HEAD_BYTES]:  # which anybody can read
        yield ENCRYPTED
    elif message := signed_message(content):
        yield from _texts(message_from_bytes(message), is_root=True)
    else:
        yield _attachment(part)


def _alternative(parts: list[Message]) -> Iterator[str]:
    """Return the plain text, or the one in HTML if the plain one says much less, then what neither holds."""
    texts = [
        (part, "\n\n".join(_texts(part))) for part in parts if part.get_content_type() != "text/calendar"
    ]
    plain = next((each for each in texts if each[0].get_content_type() == "text/plain"), (None, ""))
    others = [each for each in texts if each[0] is not plain[0]]
    shown = [each for each in others if each[0].is_multipart() or each[0].get_content_type() == "text/html"]
    rich = next(reversed(shown or others), (None, ""))
    part, text = plain if _is_enough(plain[1], rich[1]) else rich
    yield text
    for each in parts:
        if each.get_content_type() == "text/calendar":
            yield from _texts(each)
        elif each is not part:
            yield from (_attachment(leaf) for leaf in each.walk() if _is_attachment(leaf))


def _is_enough(plain: str, rich: str) -> bool:
    """Return True unless the HTML says more: its tables, what is struck out or raised, the only address."""
    found, others = _words(plain), _words(rich)
    in_tables = set(_words(" ".join(TABLE_ROW.findall(rich))))
    lacking = len(in_tables.difference(found)) > MAX_LACKING * len(in_tables)
    lacking |= not set(MARK.findall(rich)) <= set(MARK.findall(plain))
    lacking |= bool(ADDRESS.search(rich)) and not ADDRESS.search(plain)
    return not lacking and len(found) >= max(1, MIN_SHARE * len(others))


def _words(text: str) -> list[str]:
    return WORD.findall(ADDRESS.sub("", text).casefold())


def _forwarded(message: Message, part: Message) -> str:
    if not message.keys() and "content-transfer-encoding" in part:  # as a whole, which the standard forbids
        message["Content-Transfer-Encoding"] = part["content-transfer-encoding"]
        message = message_from_bytes(_bytes(message))
    return f"[Forwarded message]\n{_message_text(message)}"


def _is_page(message: Message) -> bool:
    if "snapshot-content-location" in message:
        return True
    root = next((part for part in message.walk() if not part.is_multipart()), message)
    return "content-location" in root and root.get_content_type() == "text/html" and "to" not in message


def _page_text(message: Message) -> str:
    """Return the text of a saved page: its first HTML, with that of its frames in their places."""
    kinds = ("text/html", "application/xhtml+xml")
    parts = [part for part in message.walk() if part.get_content_type() in kinds]
    pages = [(_decoded(part), header_text(str(part.get("content-location", "")))) for part in parts]
    start = str(message.get_param("start", ""))  # of multipart/related (RFC 2387)
    first = next((at for at, part in enumerate(parts) if start and part.get("content-id") == start), 0)
    frames = {address: (page, address) for page, address in pages if address}
    for part, page in zip(parts, pages, strict=True):
        if name := str(part.get("content-id", "")).strip("<> "):  # RFC 2392
            frames |= {f"cid:{name}": page, f"cid:{quote(name)}": page}
    if not pages:
        return ""
    frames.pop(pages[first][1], None)
    return html_text(*pages[first], frames)


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [each for each in payload if isinstance(each, Message)] if isinstance(payload, list) else []


def _is_attachment(part: Message) -> bool:
    if part.is_multipart() or part.get_content_type() == "text/calendar":
        return False
    kind, disposition = part.get_content_type(), part.get_content_disposition()
    is_body = kind in BODIES or (kind.startswith("text/") and not part.get_filename())
    return disposition == "attachment" or not is_body


def _attachment(part: Message) -> str:
    name = header_text(part.get_filename() or "") or part.get_content_type()
    size = len(_bytes(part))
    return f"[Attachment: {name}, {f'{size / 1_000:,.0f} kB' if size >= 1_000 else f'{size} bytes'}]"


def _bytes(part: Message) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _decoded(part: Message) -> str:
    return decoded_as(_bytes(part), part.get_content_charset())


def _flow(part: Message) -> tuple[bool, bool]:
    """Return whether the lines flow (RFC 3676), and whether their last space is no part of the text."""
    values = (str(part.get_param(name, "")).lower() for name in ("format", "delsp"))
    return next(values) == "flowed", next(values) == "yes"


def signed_message(content: bytes) -> bytes:
    """Return the bytes inside of signed data (RFC 8551, section 3.5.2), none if they are elsewhere."""
    start = content.find(DATA)
    at, found = start + len(DATA), bytearray()
    while start >= 0 and at < len(content):
        tag = content[at]
        size, at = _size(content, at + 1)
        if tag == OCTETS:
            found += content[at : at + size]
            at += size
        elif tag not in (CONTENT, PARTS_OF_OCTETS):
            break
    return bytes(found)


def _size(content: bytes, at: int) -> tuple[int, int]:
    """Return the size of a value, 0 if its end is marked instead, and where the value begins."""
    first = int.from_bytes(content[at : at + 1])
    if first < 0x80:
        return first, at + 1
    end = at + 1 + (first & 0x7F)
    return int.from_bytes(content[at + 1 : end]), end
