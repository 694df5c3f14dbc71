"""Formatting of numbers and dates for pages and messages."""

from datetime import date

from django.utils.formats import date_format, number_format
from django.utils.translation import pgettext


def grouped_number(number: float) -> str:
    """Return the number with the active language's digit grouping, such as 200,000."""
    return number_format(number, force_grouping=True)


def written_dollars(cost: float) -> str:
    """Return dollars with two decimals; below one dollar with four, because a reply costs so little."""
    return dollars(cost, 2 if cost >= 1 or cost == 0 else 4)


def dollars(amount: float, decimals: int) -> str:
    """Return the amount as the active language writes it, such as $1,234.50 or 1.234,50 $."""
    number = number_format(amount, decimals, force_grouping=True)
    return pgettext("dollars", "$%(amount)s") % {"amount": number}


def short_date(day: date) -> str:
    """Return the date in the short form of the active language, such as 27 Nov 2026."""
    return date_format(day, pgettext("date in a list", "j M Y"))
