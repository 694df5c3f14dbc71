"""Read the settings from the environment and from a `.env` file beside manage.py; the environment wins.

Every reader registers its setting's name in `SETTING_NAMES`, so that a test can compare it with the
documentation. An invalid value raises `EnvError`, whose text is a whole sentence for the person who starts
the server. An empty value counts as not set, because that is what `NAME=` means in a compose file.

The library environs was tried instead. It reads `yes` as true and `1_000` as a number, takes an empty value
for a value, lets NAME_FILE override NAME silently, ends with a traceback at a file that is not text, and its
errors do not say what to write; it takes 2 MB of memory more.
"""

import ipaddress
import os
import re
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from chatsite import env_file

BASE_DIR = Path(__file__).resolve().parent.parent

ENV_FILE = BASE_DIR / ".env"
"""The path of the `.env` file; the tests change it, so that they never use a developer's account."""

SETTING_NAMES: dict[str, str] = {}
"""The default, as text, by name of each setting that was read."""


_WORD = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PRICES = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*,\s*([0-9]{1,6}(?:\.[0-9]{1,6})?)")
_MODEL = re.compile(r"([A-Za-z0-9][A-Za-z0-9._:/+@-]{0,199})(?:=([1-9][0-9]{3,7}))?")
_HOST = re.compile(r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9._-]+))(?::(?P<port>[0-9]{1,5}))?")
_ADDRESS = re.compile(r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9.-]+)):(?P<port>[0-9]{1,5})")
# An instance of AI Search, perhaps with its namespace, and a name to show for it.
_INSTANCE = re.compile(r"((?:[A-Za-z0-9_-]{1,64}/)?[A-Za-z0-9_-]{1,64})(?:=([^\s=][^=]{0,79}))?")
_MODEL_ID = re.compile(r"@?[A-Za-z0-9][A-Za-z0-9._:/+@-]{0,199}")
HTTP = ("http", "https")
DEFAULT_WINDOW_TOKENS = 128_000  # of a model listed without its window


class EnvError(Exception):
    """An invalid setting. The message says which one, and what to write instead."""


@cache
def _file_values(path: Path) -> dict[str, str]:
    try:
        return env_file.read(path)
    except OSError as error:
        raise EnvError(
            f"{path.name} cannot be read ({error.strerror}): write a file this user can read."
        ) from None
    except ValueError as error:
        raise EnvError(f"{path.name} cannot be read ({error}): write one NAME=value a line.") from None


def _read(name: str, default: str = "") -> str:
    SETTING_NAMES[name] = default
    return library_variable(name) or default


def library_variable(name: str) -> str:
    """Return the value of a variable that only a library reads, stripped; "" if it is not set."""
    value = os.environ.get(name)
    if value is None:
        value = _file_values(ENV_FILE).get(name)
    return (value or "").strip()


def export(prefix: str) -> None:
    """Put the values of `.env` whose names begin so into the environment, for a library that reads it.

    Not before a program replaces itself or starts another: that one would take them for the environment's.
    """
    for name, value in _file_values(ENV_FILE).items():
        if name.startswith(prefix) and value:
            os.environ.setdefault(name, value)


def text(name: str, default: str = "") -> str:
    """Return the value, stripped of white space. Raises EnvError: when it holds a control character."""
    value = _read(name, default)
    if not value.isprintable():
        raise EnvError(f"{name} holds a control character: write it again, on one line.")
    return value


def word(name: str) -> str:
    """Return a name of letters, digits, - and _, safe in a URL and a header; "" if it is not set."""
    value = text(name)
    if value:
        _match(name, value, _WORD, "is no name: write letters, digits, - and _, at most 64 of them.")
    return value


def _match(name: str, value: str, pattern: "re.Pattern[str]", problem: str) -> "re.Match[str]":
    """Return the match of the whole value. Raises EnvError: with `problem` after the name."""
    if found := pattern.fullmatch(value):
        return found
    raise EnvError(f"{name} {problem}")


def secrets(prefix: str) -> dict[str, str]:
    """Return the values whose names begin so, of the environment and the file; each may be in a NAME_FILE."""
    names = {name.removesuffix("_FILE") for name in {*os.environ, *_file_values(ENV_FILE)}}
    return {name: secret(name) for name in sorted(names) if name.startswith(prefix)}


def boolean(name: str, default: bool = False) -> bool:
    """Return True for `1`, False for `0`. Refuse words: "no" and "False" are true in too many programs."""
    value = _read(name, "1" if default else "0")
    if value not in ("0", "1"):
        raise EnvError(f"{name} is {value!r}: write 0 or 1.")
    return value == "1"


def integer(name: str, default: int, low: int, high: int) -> int:
    """Return a whole number from `low` to `high`, both included."""
    return _number(name, _read(name, str(default)), low, high, {})


def days(name: str, default: int, low: int = 1) -> int:
    """Return a retention time in days; 0 means for ever."""
    return _number(name, _read(name, str(default)), low, 36_500, {"0": "0 for ever"})


def optional(name: str, low: int, high: int, *also: int) -> int | None:
    """Return a whole number from `low` to `high`, or one of `also`; None if it is not set."""
    value = text(name)
    return _number(name, value, low, high, {str(each): str(each) for each in also}) if value else None


def _number(name: str, value: str, low: int, high: int, also: dict[str, str]) -> int:
    """Return the number. `also`: others that are allowed, with the words that say so."""
    is_number = value.isascii() and value.isdigit() and len(value) < 19
    if value in also or (is_number and low <= int(value) <= high):
        return int(value)
    others = "".join(f", or {words}" for words in also.values())
    raise EnvError(f"{name} is {value!r}: write a whole number from {low} to {high}{others}.")


def choice(name: str, *choices: str) -> str:
    """Return one of `choices`; the first if it is not set, which is "" if there is no default."""
    value = text(name, choices[0])
    if value not in choices:
        raise EnvError(f"{name} is {value!r}: write {' or '.join(filter(None, choices))}.")
    return value


def prices(name: str) -> tuple[float, float] | None:
    """Return two prices, written with a comma between them; None if it is not set."""
    problem = "is not two prices: write dollars a million tokens read and written: 0.06,0.4."
    if value := text(name):
        found = _match(name, value, _PRICES, problem)
        return float(found[1]), float(found[2])
    return None


def models(name: str) -> list[tuple[str, int]]:
    """Return models as (name on its server, window in tokens), from `name=window` or a `name` alone."""
    advice = "write a model's name, or name=128000 with its window in tokens."
    return [(found[1], int(found[2] or DEFAULT_WINDOW_TOKENS)) for found in _listed(name, _MODEL, advice)]


def instances(name: str) -> list[tuple[str, str]]:
    """Return instances as (name, or namespace/name; label), from `name=Label` or `name` alone."""
    advice = (
        "write an instance's name, namespace/name, or name=Label with at most 80 characters to show instead."
    )
    found = _listed(name, _INSTANCE, advice)
    return [(each[1], (each[2] or each[1].rpartition("/")[2]).strip()) for each in found]


def _listed(name: str, pattern: "re.Pattern[str]", advice: str) -> list["re.Match[str]"]:
    return [_match(name, part, pattern, f"lists {part!r}: {advice}") for part in listing(name)]


def model(name: str, default: str) -> str:
    """Return the id of a model, or "none"."""
    value = text(name, default)
    return _match(name, value, _MODEL_ID, f"is {value[:100]!r}: write the id of one model, or none.")[0]


def listing(name: str) -> list[str]:
    """Return the parts between commas, stripped, without empty ones."""
    return [part.strip() for part in text(name).split(",") if part.strip()]


def url(name: str, default: str = "", schemes: tuple[str, ...] = HTTP) -> str:
    """Return an absolute URL without a trailing slash; "" if it is not set and has no default."""
    return require_url(name, text(name, default).rstrip("/"), schemes)


def require_url(name: str, value: str, schemes: tuple[str, ...]) -> str:
    """Return `value` if it is "" or such a URL. An error does not repeat it: it may hold a password."""
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


def address(name: str) -> tuple[str, int] | None:
    """Return host and port, from `host:port` or `[IPv6 address]:port`; None if it is not set."""
    value = text(name)
    if not value:
        return None
    found = _ADDRESS.fullmatch(value)
    if not found or not 1 <= int(found["port"]) <= 65535:
        raise EnvError(f"{name} is no address with a port: write one such as 127.0.0.1:9100 or [::1]:9100.")
    return found["host"] or found["ipv6"], int(found["port"])


def hosts(name: str) -> list[tuple[str, int | None]]:
    """Return hosts with their port, None for any, from `host`, `host:port` or `[IPv6 address]:port`."""
    advice = "write names or addresses of hosts, such as wiki.example.org, 10.0.0.5:8080 or [fd00::5]."
    found: list[tuple[str, int | None]] = []
    for each in _listed(name, _HOST, advice):
        port = int(each["port"]) if each["port"] else None
        try:
            host = each["host"] or str(ipaddress.IPv6Address(each["ipv6"]))
        except ValueError:
            host = ""
        if not host or (port is not None and not 1 <= port <= 65535):
            raise EnvError(f"{name} lists {each[0]!r}: {advice}")
        found.append((host.lower(), port))
    return found


def origins(name: str) -> list[str]:
    """Return origins of web pages, as browsers write them: scheme, host, and any port but the default."""
    found = listing(name)
    for each in found:
        if not _is_origin(each):
            raise EnvError(
                f"{name} lists {each[:100]!r}, which is no origin: write scheme and host, without a path, "
                "such as https://app.example.org or http://localhost:5173."
            )
    return found


def _is_origin(value: str) -> bool:
    if not _is_url(value, HTTP):
        return False
    parts = urlsplit(value)
    usual = {"http": 80, "https": 443}[parts.scheme]
    origin = f"{parts.scheme}://{parts.netloc}"
    return value == origin.lower() and "@" not in value and "*" not in value and parts.port != usual


def path(name: str, default: str = "") -> str:
    """Return a path; a relative one is resolved from the folder of manage.py. "" if it is not set."""
    value = text(name, default)
    return str(BASE_DIR / Path(value).expanduser()) if value else ""


def secret(name: str) -> str:
    """Return the value, or the content of the file NAME_FILE, as container platforms pass secrets."""
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
