"""Formatting of numbers and dates for pages and messages."""

from datetime import date

from django.utils.formats import date_format, number_format
from django.utils.translation import gettext, pgettext

LEAST_COST = 0.0001  # dollars that are named; of less it is only said that it is less, as in tray_limits.js


def grouped_number(number: float) -> str:
    """Return the number with the active language's digit grouping, such as 200,000."""
    return number_format(number, force_grouping=True)


def decimal_number(number: float, decimals: int) -> str:
    """Return the number rounded; Django’s `number_format` alone cuts off: 1.99 for 1.999."""
    return number_format(round(number, decimals), decimals, force_grouping=True)


def written_cost(*parts: float | None) -> str:
    """Return the sum in words: of none “nothing”, of what has no known price “unknown”, beside it “at least”.

    Below one dollar it has four decimals, because a reply costs so little.
    """
    known = sum(filter(None, parts))
    if None in parts and known < LEAST_COST:
        return gettext("unknown")
    if not known:
        return pgettext("cost", "nothing")
    if known < LEAST_COST:
        return f"<\u00a0{dollars(LEAST_COST, 4)}"
    written = dollars(known, 2 if known >= 1 else 4)
    return gettext("at least %(cost)s") % {"cost": written} if None in parts else written


def dollars(amount: float, decimals: int) -> str:
    """Return the amount as the active language writes it, such as $1,234.50 or 1.234,50 $."""
    return pgettext("dollars", "$%(amount)s") % {"amount": decimal_number(amount, decimals)}


def short_date(day: date) -> str:
    """Return the date in the short form of the active language, such as 27 Nov 2026."""
    return date_format(day, pgettext("date in a list", "j M Y"))
