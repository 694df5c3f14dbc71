"""The time zone of the client."""

from datetime import tzinfo
from zoneinfo import ZoneInfo

from django.http import HttpRequest

MAX_ZONE_CHARS = 64  # the longest name in the IANA database has 32 today


def timezone_of(request: HttpRequest) -> tzinfo:
    """Return the time zone named in the `tz` cookie, which the page's script sets; UTC otherwise."""
    name = request.COOKIES.get("tz", "")
    if not 0 < len(name) <= MAX_ZONE_CHARS:
        return ZoneInfo("UTC")
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):  # a directory, a path outside the database, an unknown name
        return ZoneInfo("UTC")
