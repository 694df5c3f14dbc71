"""Columns that several lists have: times and people."""

from collections.abc import Callable
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

from django.contrib import admin
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html

WITH_ZONE = "Y-m-d H:i T"  # the format of a time, with the name of its zone
Column = Callable[[Any, Any], str]
"""A method of an admin: called with the admin and a row."""


def time_column(name: str, title: Any) -> Column:
    """Return the column of a time, by which the list can be sorted."""

    @admin.display(description=title, ordering=name)
    def column(self: Any, obj: Any) -> str:
        return moment(getattr(obj, name))

    return column


def person_column(path: str, title: Any) -> Column:
    """Return the column of a user's name, "" without one. `path` leads to the user, such as `leaf.owner`."""
    person = attrgetter(path)

    @admin.display(description=title, ordering=f"{path.replace('.', '__')}__username")
    def column(self: Any, obj: Any) -> str:
        return format_html("<bdi>{}</bdi>", found.get_username()) if (found := person(obj)) else ""

    return column


def moment(when: datetime | None) -> str:
    """Return the time to the minute in the person's zone, as HTML with UTC as its tooltip; “–” for None."""
    return _time(when, WITH_ZONE)


def day(when: datetime | None) -> str:
    """Return the date in the active time zone, as HTML; “–” for None."""
    return _time(when, "Y-m-d")


def in_words(when: datetime) -> str:
    """Return the time in the format of `moment`, as plain text for a sentence."""
    return date_format(timezone.localtime(when), WITH_ZONE)


def _time(when: datetime | None, shown: str) -> str:
    if when is None:
        return "–"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        when.isoformat(timespec="seconds"),
        date_format(when.astimezone(UTC), WITH_ZONE),
        date_format(timezone.localtime(when), shown),
    )
