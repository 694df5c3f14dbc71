"""How the lists write a time and a number: short, and the same everywhere."""

from datetime import datetime

from django.utils import timezone
from django.utils.formats import date_format, number_format


def moment(when: datetime | None) -> str:
    """The site's time to the minute; a dash for what has not happened."""
    return date_format(timezone.localtime(when), "Y-m-d H:i") if when else "–"


def day(when: datetime | None) -> str:
    """The site's date; a dash for what has not happened."""
    return date_format(timezone.localtime(when), "Y-m-d") if when else "–"


def grouped(number: int) -> str:
    """200,000, as the language writes it."""
    return number_format(number, force_grouping=True)
