"""The time zone of whoever asks."""

from datetime import tzinfo
from zoneinfo import ZoneInfo

from django.http import HttpRequest

LONGEST_ZONE = 64  # characters of a name in the IANA database; the longest of today has 32


def zone(request: HttpRequest) -> tzinfo:
    """The person's time zone, of which the page's script leaves the name in a cookie; else UTC."""
    name = request.COOKIES.get("tz", "")
    if not 0 < len(name) <= LONGEST_ZONE:
        return ZoneInfo("UTC")
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):  # a folder, a way out of the database, an unknown name
        return ZoneInfo("UTC")
