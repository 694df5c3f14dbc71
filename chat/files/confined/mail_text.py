"""The words of mail: headers and bytes in their character sets, plain texts, and invitations.

Also such as break the rules.
"""

import binascii
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta

from .problem import Problem
from .text_encoding import codec, decoded

ENCODED_WORD = re.compile(r"=\?([^?\s*]{1,40})(?:\*[^?\s]*)?\?([bq])\?([^?\r\n]*)\?=", re.IGNORECASE)
FOLD = re.compile(r"\r?\n[ \t]*")
# What programs declare without looking; in these, text is hardly ever valid UTF-8.
OFTEN_WRONG = ("cp1252", "iso-8859-15")
NO_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")
PGP = re.compile(r"-----BEGIN PGP (MESSAGE|SIGNATURE)-----\n(?:(?!-)[^\n]{0,200}\n)*-----END PGP \1-----")
UUENCODED = re.compile(r"^begin [0-7]{3,4} ([^\n]{1,200})\n(?:[!-`][^\n]{0,90}\n)*end$", re.MULTILINE)
QUOTES = re.compile(r">*")
FOLDED_LINE = re.compile(r"\r?\n[ \t]")
LINE = re.compile(r"([A-Za-z-]+)((?:;[^\";:]*(?:\"[^\"]*\"[^\";:]*)*)*):(.*)")
PARAMETER = re.compile(r';([A-Za-z-]+)=(?:"([^"]*)"|([^;]*))')
TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?")
TIMES = re.compile(rf"{TIME.pattern}(?:,{TIME.pattern})*")
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
LABELS = {
    "SUMMARY": "Event",
    "DTSTART": "Start",
    "DTEND": "End",
    "DUE": "Due",
    "DURATION": "Duration",
    "RRULE": "Repeats",
    "EXDATE": "Except on",
    "RDATE": "Also on",
    "RECURRENCE-ID": "In place of",
    "LOCATION": "Place",
    "STATUS": "Status",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendee",
    "URL": "Address",
    "DESCRIPTION": "Description",
}
COMPONENTS = ("VEVENT", "VTODO", "VJOURNAL")


def decoded_as(content: bytes, charset: str | None) -> str:
    """Return the text in its declared character set, or in another one if it cannot be in that."""
    if name := codec(charset or ""):
        if name in OFTEN_WRONG and not content.isascii():
            with suppress(UnicodeDecodeError):
                return content.decode()
        try:
            return content.decode(name)
        except (UnicodeDecodeError, LookupError):
            pass
    try:
        return decoded(content)
    except Problem:
        return content.decode("utf-8", "replace")


def header_text(raw: str) -> str:
    """Return a header in words. `raw`: as the parser has it, bytes that are not ASCII as surrogates."""
    if not raw.isascii():
        raw = decoded_as(raw.encode("utf-8", "surrogateescape"), None)
    raw = FOLD.sub(" ", raw)
    words: list[tuple[str, bytes]] = []  # encoded ones that follow each other, in one character set
    text, end = "", 0
    for found in ENCODED_WORD.finditer(raw):
        between = raw[end : found.start()]
        charset, content = found[1].lower(), _word_bytes(found[2], found[3])
        if words and not between.strip() and words[-1][0] == charset:
            words[-1] = (charset, words[-1][1] + content)  # a character may be divided between two words
        elif words and not between.strip():
            words.append((charset, content))
        else:
            text += "".join(_decoded_words(words)) + between
            words = [(charset, content)]
        end = found.end()
    return " ".join((text + "".join(_decoded_words(words)) + raw[end:]).split())


def _decoded_words(words: list[tuple[str, bytes]]) -> Iterator[str]:
    return (decoded_as(content, charset) for charset, content in words)


def _word_bytes(encoding: str, text: str) -> bytes:
    content = text.encode("utf-8", "replace")
    if encoding in "bB":
        content = NO_BASE64.sub(b"", content)
        content = content[: len(content) - (len(content) % 4 == 1)]
        return binascii.a2b_base64(content + b"=" * (-len(content) % 4))
    return binascii.a2b_qp(content, header=True)


def plain_text(text: str, is_flowed: bool = False, without_spaces: bool = False) -> str:
    """Return the text; armor of PGP and files inside of it are named."""
    text = text.replace("\r\n", "\n")
    text = PGP.sub(lambda found: "[Encrypted with PGP]" if found[1] == "MESSAGE" else "", text)
    text = UUENCODED.sub(r"[Attachment: \1]", text)
    return joined_lines(text, without_spaces) if is_flowed else text


def joined_lines(text: str, without_spaces: bool) -> str:
    """Return the text with its paragraphs in one line each, as format=flowed means it (RFC 3676)."""
    lines: list[str] = []
    depth, is_open = 0, False
    for line in text.split("\n"):
        quotes = len(QUOTES.match(line)[0])  # type: ignore[index]
        content = line[quotes:].removeprefix(" ")
        if is_open and quotes == depth and content != "-- ":
            lines[-1] += content
        else:
            lines.append(f"{'>' * quotes}{' ' * bool(quotes)}{content}")
        depth, is_open = quotes, content.endswith(" ") and content != "-- "
        if is_open and without_spaces:
            lines[-1] = lines[-1][:-1]
    return "\n".join(lines)


def calendar_text(text: str) -> str:
    """Return the method (REQUEST, CANCEL, …) of iCalendar (RFC 5545) and the events, a line a property."""
    return "\n".join(_lines(FOLDED_LINE.sub("", text)))


def _lines(text: str) -> Iterator[str]:
    inside: list[str] = []
    for line in text.splitlines():
        found = LINE.fullmatch(line.strip())
        if not found:
            continue
        name, value = found[1].upper(), found[3]
        if name == "BEGIN":
            inside.append(value.upper())
            if inside[-1] in COMPONENTS:
                yield ""
        elif name == "END":
            del inside[-1:]
        elif name == "METHOD":
            yield f"[Calendar: {value}]"
        elif name in LABELS and inside and inside[-1] in COMPONENTS:
            parameters = {each[1].upper(): each[2] or each[3] for each in PARAMETER.finditer(found[2])}
            yield f"{LABELS[name]}: {_value(name, value, parameters)}"


def _value(name: str, value: str, parameters: dict[str, str]) -> str:
    if name in ("ORGANIZER", "ATTENDEE"):
        address = re.sub("mailto:", "", value, flags=re.IGNORECASE)
        common = parameters.get("CN", "")
        answer = parameters.get("PARTSTAT", "").replace("NEEDS-ACTION", "")
        return f"{common} <{address}>" * bool(common) + address * (not common) + f" ({answer})" * bool(answer)
    if TIMES.fullmatch(value):
        times = (_time(name, each, parameters.get("TZID", "")) for each in TIME.finditer(value))
        return ", ".join(times)
    return ESCAPED.sub(lambda each: "\n" if each[1] in "nN" else each[1], value)


def _time(name: str, time: re.Match[str], zone: str) -> str:
    """Return a time. Where events of whole days end, the standard writes the day after the last (3.6.1)."""
    year, month, day, hour, minute, utc = time.groups()
    if not hour:
        with suppress(ValueError):
            last = date(int(year), int(month), int(day)) - timedelta(days=name == "DTEND")
            return last.isoformat()
        return time[0]
    return f"{year}-{month}-{day} {hour}:{minute} {'UTC' if utc else zone}".rstrip()
