"""Dates, times of the day and durations of workbooks and charts, in the format of their cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ERAS = (
    (datetime(2019, 5, 1), "令和", "R"),
    (datetime(1989, 1, 8), "平成", "H"),
    (datetime(1926, 12, 25), "昭和", "S"),
    (datetime(1912, 7, 30), "大正", "T"),
    (datetime(1868, 1, 25), "明治", "M"),
)
SECONDS = {"h": 3_600, "m": 60, "s": 1}
DAY_SECONDS = 86_400
FIRST_DAY, FIRST_DAY_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
MISSING_DAY = 60  # 29 February 1900, which spreadsheets count
LAST_SERIAL = 2_958_466


@dataclass(frozen=True, slots=True)
class Token:
    """A part of a format. `kind`: "text", "code", "elapsed", "general" or "era" (of Japanese dates)."""

    kind: str
    text: str


def is_date(tokens: Sequence[Token]) -> bool:
    eras = {each.text[0].lower() for each in tokens if each.kind == "era"}
    if ("a" in eras or {"e", "g"} <= eras) and not any(each.text in ("0", "#", "?") for each in tokens):
        return True
    return any(
        each.kind == "elapsed" or (each.kind == "code" and each.text[0] in "yYmMdDhHsSA") for each in tokens
    )


def moment(number: float, is_1904: bool) -> datetime:
    """Return the date of a serial number, to the millisecond."""
    first = FIRST_DAY_1904 if is_1904 else FIRST_DAY
    days = number + 1 if not is_1904 and number < MISSING_DAY else number
    return first + timedelta(seconds=round(days * DAY_SECONDS, 3))


def date_number(text: str, is_1904: bool) -> float:
    """Return the serial number of a date in ISO 8601. Raises ValueError."""
    days = (datetime.fromisoformat(text).replace(tzinfo=None) - FIRST_DAY_1904).total_seconds() / DAY_SECONDS
    return days if is_1904 else days + (FIRST_DAY_1904 - FIRST_DAY).days


def dated(number: float, tokens: Sequence[Token], is_1904: bool) -> str:
    """Return a serial number as a date, a time or a duration."""
    places = _decimals(tokens)
    seconds = round(abs(number) * DAY_SECONDS, places)
    is_duration = any(each.kind == "elapsed" for each in tokens)
    if not is_duration and not 0 <= number < LAST_SERIAL:
        return str(number)
    when = moment(seconds / DAY_SECONDS, is_1904) if not is_duration else FIRST_DAY
    has_era = any(each.kind == "era" and each.text[0] in "gG" for each in tokens)
    in_halves = any(each.text in ("AM/PM", "A/P") for each in tokens)
    found = "-" if number < 0 else ""
    for index, token in enumerate(tokens):
        if token.kind == "text":
            found += token.text
        elif token.kind == "era":
            found += _in_era(token.text.lower(), when, has_era)
        elif token.kind == "elapsed":
            found += f"{int(seconds) // SECONDS[token.text[0]]:0{len(token.text)}}"
        elif token.text == ".":
            found += (
                "." if places and index + 1 < len(tokens) and tokens[index + 1].text == "0" else token.text
            )
        elif token.text == "0":
            found += "" if tokens[index - 1].text == "0" else f"{seconds % 1:.{places}f}"[2:]
        elif token.text in ("AM/PM", "A/P"):
            found += "AM" if seconds % DAY_SECONDS < DAY_SECONDS / 2 else "PM"
        elif token.text[0] in "yYmMdDhHsS":
            found += _part(token.text.lower(), when, seconds, in_halves, _is_minute(tokens, index))
        else:
            found += token.text
    return found


def _part(code: str, when: datetime, seconds: float, in_halves: bool, is_minute: bool) -> str:
    if code[0] == "y":
        return f"{when.year % 100:02}" if len(code) < 3 else f"{when.year:04}"
    if code[0] == "d":
        return str(when.day).zfill(len(code)) if len(code) < 3 else _name(DAYS[when.weekday()], code)
    if code[0] == "m" and not is_minute:
        return str(when.month).zfill(len(code)) if len(code) < 3 else _name(MONTHS[when.month - 1], code)
    unit = SECONDS[code[0]]
    number = int(seconds) // unit % (24 if code[0] == "h" else 60)
    if code[0] == "h" and in_halves:
        number = (number + 11) % 12 + 1
    return str(number).zfill(min(len(code), 2))


def _in_era(code: str, when: datetime, has_era: bool) -> str:
    """Return the Japanese era (g), its year (e; the usual one where no era stands), or the weekday (a)."""
    if code[0] == "a":
        return _name(DAYS[when.weekday()], code)
    first, name, letter = next((each for each in ERAS if when >= each[0]), (datetime(1, 1, 1), "", ""))
    if code[0] == "g":
        return letter if len(code) == 1 else name[: len(code) - 1]
    return str(when.year - first.year + 1 if has_era else when.year).zfill(len(code))


def _name(name: str, code: str) -> str:
    return name[:3] if len(code) == 3 else name[:1] if len(code) == 5 else name


def _is_minute(tokens: Sequence[Token], index: int) -> bool:
    """Return True if an "m" follows hours, or stands before seconds."""
    codes = [
        each.text[0].lower() for each in tokens[:index] if each.kind != "text" and each.text[0].isalpha()
    ]
    behind = [
        each.text[0].lower() for each in tokens[index + 1 :] if each.kind != "text" and each.text[0].isalpha()
    ]
    return codes[-1:] == ["h"] or behind[:1] == ["s"]


def _decimals(tokens: Sequence[Token]) -> int:
    """Return the digits of fractions of a second."""
    codes = [each.text for each in tokens]
    return next((codes[at + 1 :].count("0") for at, code in enumerate(codes) if code == "."), 0)
