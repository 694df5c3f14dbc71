"""The time zone that a person sees times in."""

from datetime import tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest

MAX_ZONE_CHARS = 64  # the longest name in the IANA database has 32 today
BROWSER_COOKIE = "tz"  # set by the page's script: the browser's zone
CHOSEN_COOKIE = "zone"  # set by the server: the zone that the person chose
UTC = ZoneInfo("UTC")


def timezone_of(request: HttpRequest) -> tzinfo:
    """Return the zone that the person chose, otherwise the browser's; UTC if neither is known."""
    return _zone(chosen_zone(request)) or browser_zone(request) or UTC


def browser_zone(request: HttpRequest) -> tzinfo | None:
    """Return the zone named in the cookie that the page's script sets; None if it is not known."""
    return _zone(request.COOKIES.get(BROWSER_COOKIE, ""))


def chosen_zone(request: HttpRequest) -> str:
    """Return the name that the person chose, from their preferences or else from the cookie; "" for none."""
    preferences = getattr(request, "preferences", None)
    name = preferences.time_zone if preferences else request.COOKIES.get(CHOSEN_COOKIE, "")
    return name if _zone(name) else ""


@cache
def zone_names() -> tuple[str, ...]:
    """Return the names that a person can choose from: those of regions, and UTC."""
    return ("UTC", *sorted(name for name in available_timezones() if "/" in name and _is_place(name)))


def _is_place(name: str) -> bool:
    return not name.startswith(("Etc/", "SystemV/", "US/", "posix/", "right/"))


def _zone(name: str) -> tzinfo | None:
    if not 0 < len(name) <= MAX_ZONE_CHARS:
        return None
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):  # a directory, a path outside the database, an unknown name
        return None
