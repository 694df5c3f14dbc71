"""Read the settings from the environment and from a `.env` file beside manage.py; the environment wins.

Every reader registers the name it was asked for in `NAMES`, so that a test can hold the documentation to it.
A value that cannot be used raises `EnvError`, whose text is a whole sentence for whoever starts the server.
An empty value is the same as none, because `NAME=` is how a compose file says "not set".

The library environs was tried instead. It reads `yes` as true and `1_000` as a number, takes an empty value
for a value, lets NAME_FILE win over NAME without a word, ends with a traceback at a file that is not text,
and its errors do not say what to write; it would need dj-database-url as well, and 2 MB of memory more.
"""

import os
import re
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from dotenv import dotenv_values

BASE_DIR = Path(__file__).resolve().parent.parent

FILE = BASE_DIR / ".env"
"""Where the file is looked for; the tests point it elsewhere, so that a developer's account is never used."""

NAMES: dict[str, str] = {}
"""Every setting that was asked for, with its default as written."""


_WORD = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PRICES = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*,\s*([0-9]{1,6}(?:\.[0-9]{1,6})?)")
_MODEL = re.compile(r"([A-Za-z0-9][A-Za-z0-9._:/+@-]{0,199})(?:=([1-9][0-9]{3,7}))?")
WINDOW = 128_000  # tokens, where nobody says


class EnvError(Exception):
    """A setting has a value that cannot be used. The text says which one, and what to write instead."""


@cache
def _file_values(path: Path) -> dict[str, str | None]:
    return dotenv_values(path)


def _read(name: str, default: str = "") -> str:
    NAMES[name] = default
    value = os.environ.get(name)
    if value is None:
        value = _file_values(FILE).get(name)
    return (value or "").strip() or default


def text(name: str, default: str = "") -> str:
    """The value without white space around it."""
    value = _read(name, default)
    if not value.isprintable():
        raise EnvError(f"{name} holds a control character: write it again, on one line.")
    return value


def word(name: str) -> str:
    """Letters, digits, - and _: what may stand in an address and in a header as it is."""
    value = text(name)
    if value and not _WORD.fullmatch(value):
        raise EnvError(f"{name} is no name: write letters, digits, - and _, at most 64 of them.")
    return value


def boolean(name: str, default: bool = False) -> bool:
    """`0` or `1`, and nothing else: "no" and "False" are true in too many programs to be guessed."""
    value = _read(name, "1" if default else "0")
    if value not in ("0", "1"):
        raise EnvError(f"{name} is {value!r}: write 0 or 1.")
    return value == "1"


def integer(name: str, default: int, low: int, high: int) -> int:
    """A whole number from `low` to `high`, both included."""
    value = _read(name, str(default))
    if not (value.isascii() and value.isdigit() and len(value) < 19 and low <= int(value) <= high):
        raise EnvError(f"{name} is {value!r}: write a whole number from {low} to {high}.")
    return int(value)


def days(name: str, default: int, low: int = 1) -> int:
    """How long something is kept, in days; 0 means for ever."""
    value = _read(name, str(default))
    if value == "0":
        return 0
    try:
        return integer(name, default, low, 36_500)
    except EnvError as error:
        raise EnvError(f"{str(error).removesuffix('.')}, or 0 for ever.") from None


def optional(name: str, low: int, high: int, *also: int) -> int | None:
    """Such a number, or one of `also`; None when it is not set."""
    value = text(name)
    if not value:
        return None
    if value in map(str, also):
        return int(value)
    try:
        return integer(name, low, low, high)
    except EnvError as error:
        others = "".join(f", or {number}" for number in also)
        raise EnvError(f"{str(error).removesuffix('.')}{others}.") from None


def choice(name: str, *choices: str) -> str:
    """One of these words; the first where it is not set. An empty one among them means: not set."""
    value = text(name, choices[0])
    if value not in choices:
        raise EnvError(f"{name} is {value!r}: write {' or '.join(filter(None, choices))}.")
    return value


def prices(name: str) -> tuple[float, float] | None:
    """Two prices with a comma between them; None when it is not set."""
    value = text(name)
    if not value:
        return None
    found = _PRICES.fullmatch(value)
    if not found:
        raise EnvError(
            f"{name} is not two prices: write dollars a million tokens read and written: 0.06,0.4."
        )
    return float(found[1]), float(found[2])


def models(name: str) -> list[tuple[str, int]]:
    """Models as those who serve them call them, each with its window in tokens: behind a `=`, or usual."""
    return [_model(name, part) for part in listing(name)]


def _model(name: str, written: str) -> tuple[str, int]:
    found = _MODEL.fullmatch(written)
    if not found:
        raise EnvError(
            f"{name} lists {written!r}: write a model's name, or name=128000 with its window in tokens."
        )
    return found[1], int(found[2] or WINDOW)


def listing(name: str) -> list[str]:
    """The parts between the commas, without empty ones."""
    return [part.strip() for part in text(name).split(",") if part.strip()]


def url(name: str, default: str, schemes: tuple[str, ...]) -> str:
    """An absolute address without a slash at its end; empty when it is not set and has no default."""
    return require_url(name, text(name, default).rstrip("/"), schemes)


def require_url(name: str, value: str, schemes: tuple[str, ...]) -> str:
    """Return `value` if it is empty or such an address. No error repeats it: it may hold a password."""
    if value and not _is_url(value, schemes):
        starts = " or ".join(f"{scheme}://" for scheme in schemes)
        raise EnvError(f"{name} is not an address: write one that begins with {starts} and names a host.")
    return value


def _is_url(value: str, schemes: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(value)
        return parts.scheme in schemes and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def origins(name: str) -> list[str]:
    """Origins of web pages, as browsers write them: a scheme, a host, and a port unless it is the usual."""
    found = listing(name)
    for each in found:
        if not _is_origin(each):
            raise EnvError(
                f"{name} lists {each[:100]!r}, which is no origin: write scheme and host, without a path, "
                "such as https://app.example.org or http://localhost:5173."
            )
    return found


def _is_origin(value: str) -> bool:
    if not _is_url(value, ("http", "https")):
        return False
    parts = urlsplit(value)
    usual = {"http": 80, "https": 443}[parts.scheme]
    written = f"{parts.scheme}://{parts.netloc}"
    return value == written.lower() and "@" not in value and "*" not in value and parts.port != usual


def path(name: str, default: str = "") -> str:
    """A file or folder, taken from the folder of manage.py when it is relative; empty when it is not set."""
    value = text(name, default)
    return str(BASE_DIR / Path(value).expanduser()) if value else ""


def secret(name: str) -> str:
    """The value, or the content of the file that NAME_FILE names, as container platforms hand them over."""
    value, file = text(name), text(f"{name}_FILE")
    if not file:
        return value
    if value:
        raise EnvError(f"{name} and {name}_FILE are both set: write only one of them.")
    try:
        content = (BASE_DIR / Path(file).expanduser()).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise EnvError(
            f"{name}_FILE names a file that cannot be read ({reason}): write another one."
        ) from None
    if not content or not content.isprintable():
        raise EnvError(
            f"{name}_FILE names a file that does not hold one line of text: write the value into it."
        )
    return content
