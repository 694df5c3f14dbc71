"""The formats of times in the lists."""

from datetime import datetime

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html


def moment(when: datetime | None) -> str:
    """Return the time to the minute in the active time zone, with the zone's name, as HTML; “–” for None."""
    return _time(when, "Y-m-d H:i T")


def day(when: datetime | None) -> str:
    """Return the date in the active time zone, as HTML; “–” for None."""
    return _time(when, "Y-m-d")


def in_words(when: datetime) -> str:
    """Return the time in the format of `moment`, as plain text for a sentence."""
    return date_format(timezone.localtime(when), "Y-m-d H:i T")


def _time(when: datetime | None, shown: str) -> str:
    if when is None:
        return "–"
    words = date_format(timezone.localtime(when), shown)
    return format_html('<time datetime="{}">{}</time>', when.isoformat(timespec="seconds"), words)
