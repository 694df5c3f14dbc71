"""The times of a page's messages, in its reader's time zone."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext, pgettext


def add_times(items: Iterable[dict[str, Any]], zone: tzinfo, now: datetime) -> None:
    """Add to each message's context `at`, its local time, and `day`, the name of the day that it begins.

    The first message names its day too, unless that is today. `at` is naive, so templates do not convert it.
    """
    today = last_day = now.astimezone(zone).date()
    for item in items:
        item["at"] = item["created"].astimezone(zone).replace(tzinfo=None)
        day = item["at"].date()
        item["day"] = _name(day, today) if day != last_day else ""
        last_day = day


def _name(day: date, today: date) -> str:
    if day == today:
        return gettext("Today")
    if day == today - timedelta(days=1):
        return gettext("Yesterday")
    # Translators: the format of a date such as 12 November 2026, for Django's template filter "date".
    return date_format(day, pgettext("date format", "j F Y"))
