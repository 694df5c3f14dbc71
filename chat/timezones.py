"""The time zone of whoever asks."""

from datetime import tzinfo
from zoneinfo import ZoneInfo

from django.http import HttpRequest

MAX_ZONE_CHARS = 64  # characters of a name in the IANA database; the longest of today has 32


def timezone_of(request: HttpRequest) -> tzinfo:
    """The person's time zone, of which the page's script leaves the name in a cookie; else UTC."""
    name = request.COOKIES.get("tz", "")
    if not 0 < len(name) <= MAX_ZONE_CHARS:
        return ZoneInfo("UTC")
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):  # a folder, a way out of the database, an unknown name
        return ZoneInfo("UTC")
