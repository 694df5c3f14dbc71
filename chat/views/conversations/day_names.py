"""Names of days as people say them, in the language of the request."""

from datetime import date, datetime, timedelta, tzinfo

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext, pgettext

WEEK = timedelta(days=7)


def short_day(at: datetime, zone: tzinfo) -> str:
    """Return Today, Yesterday, Tuesday, 26 Nov or 26 Nov 2024: as short as the day can be named in `zone`."""
    day, today = at.astimezone(zone).date(), timezone.now().astimezone(zone).date()
    if day >= today:  # a future day, from a wrong clock, counts as today
        return gettext("Today")
    if day == today - timedelta(days=1):
        return gettext("Yesterday")
    if day > today - WEEK:
        return capfirst(date_format(day, "l"))
    return short_date(day, today)


def short_date(day: date, today: date) -> str:
    """Return 26 Nov, with the year if that is another one than today's."""
    # Translators: the formats of a short date such as 26 Nov, for Django's template filter "date".
    if day.year == today.year:
        return date_format(day, pgettext("date format", "j M"))
    return date_format(day, pgettext("date format", "j M Y"))
