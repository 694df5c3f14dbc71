"""Columns that several lists have: times, people, models and groups."""

from collections.abc import Callable
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

from django.contrib import admin
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.catalog.catalog import model_name
from chat.formats import short_date
from chat.models.site_model import ForGroups

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


@admin.display(description=_("model"), ordering="model")
def model_column(self: Any, obj: Any) -> str:
    """The name of the row's model, with its id as a tooltip."""
    return format_html('<span title="{}">{}</span>', obj.model, model_name(obj.model))


@admin.display(description=_("groups"))
def groups_column(self: Any, obj: ForGroups) -> str:
    names = [(group,) for group in obj.groups.all()]
    return format_html_join(", ", "<bdi>{}</bdi>", names) or gettext("everyone")


def moment(when: datetime | None) -> str:
    """Return the time to the minute in the person's zone, as HTML with UTC as its tooltip; “–” for None."""
    return _time(when, in_words)


def day(when: datetime | None) -> str:
    """Return the date in the active time zone, as HTML; “–” for None."""
    return _time(when, short_date)


def in_words(when: datetime) -> str:
    """Return the time as plain text for a sentence: in the person's zone, or in UTC and saying so."""
    local = timezone.localtime(when)
    zone = " UTC" if timezone.get_current_timezone_name() == "UTC" else ""
    return f"{short_date(local)}, {local:%H:%M}{zone}"


def _time(when: datetime | None, written: Callable[[datetime], str]) -> str:
    if when is None:
        return "–"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        when.isoformat(timespec="seconds"),
        f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        written(timezone.localtime(when)),
    )
