"""Invitations: the events of a calendar (iCalendar, RFC 5545) in lines that people read."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta

FOLD = re.compile(r"\r?\n[ \t]")
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


def calendar_text(text: str) -> str:
    """Return the method (REQUEST, CANCEL, …) and the events, a line for each property."""
    return "\n".join(_lines(FOLD.sub("", text)))


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
