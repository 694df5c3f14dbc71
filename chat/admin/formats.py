"""How the lists write a time: short, and the same everywhere."""

from datetime import datetime

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html


def moment(when: datetime | None) -> str:
    """The time to the minute in the reader's zone, which it names; a dash for what has not happened."""
    return _time(when, "Y-m-d H:i T")


def day(when: datetime | None) -> str:
    """The date in the reader's zone; a dash for what has not happened."""
    return _time(when, "Y-m-d")


def in_words(when: datetime) -> str:
    """The time as `moment` shows it, for a sentence: text alone."""
    return date_format(timezone.localtime(when), "Y-m-d H:i T")


def _time(when: datetime | None, shown: str) -> str:
    if when is None:
        return "–"
    words = date_format(timezone.localtime(when), shown)
    return format_html('<time datetime="{}">{}</time>', when.isoformat(timespec="seconds"), words)
