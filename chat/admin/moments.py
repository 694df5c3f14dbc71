"""How the lists write a time: short, the same everywhere, and it sorts as it reads."""

from datetime import datetime

from django.utils import timezone
from django.utils.formats import date_format


def moment(when: datetime | None) -> str:
    """The site's time to the minute; a dash for what has not happened."""
    return date_format(timezone.localtime(when), "Y-m-d H:i") if when else "–"


def day(when: datetime | None) -> str:
    """The site's date; a dash for what has not happened."""
    return date_format(timezone.localtime(when), "Y-m-d") if when else "–"
