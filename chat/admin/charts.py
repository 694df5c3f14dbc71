"""The charts of the overview: a drawing of each figure by day, with the numbers as a table below it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from chat.formats import decimal_number, grouped_number, written_cost

from .days import Day
from .model_stats import USAGE_PERMISSIONS

SLOT, BAR, HEIGHT = 10, 8, 60  # of the drawing, which is stretched to its place


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of the drawing. `part`: "all", or "rest" of one that stands behind another."""

    x: int
    y: float
    height: float
    part: str


@dataclass(frozen=True, slots=True)
class Chart:
    """`rows`: (day, a value for each of `columns`), the newest first. Without `bars` there is `nothing`.

    `scale` says what the highest bar is, and what is drawn how.
    """

    title: str
    total: str
    nothing: str
    scale: str
    columns: list[str]
    bars: list[Bar]
    rows: list[tuple[Any, list[str]]]

    @property
    def width(self) -> int:
        return SLOT * len(self.rows)

    @property
    def height(self) -> int:
        return HEIGHT


def charts(user: Any, days: list[Day]) -> list[Chart]:
    """Return those that the user may see."""
    found = []
    if user.has_perm("chat.view_run"):
        found += [_replies(days), _people(days), _failures(days), _waits(days)]
    if user.has_perms(USAGE_PERMISSIONS):
        found.append(_costs(days))
    return found


def _replies(days: list[Day]) -> Chart:
    title, nothing = gettext("Replies"), gettext("No replies.")
    total = grouped_number(sum(day.replies for day in days))
    return _chart(title, total, nothing, days, {title: lambda day: day.replies}, grouped_number)


def _people(days: list[Day]) -> Chart:
    title, nothing = gettext("People who asked"), gettext("Nobody asked.")
    most = gettext("at most %(n)s a day") % {"n": grouped_number(max(day.people for day in days))}
    return _chart(title, most, nothing, days, {gettext("People"): lambda day: day.people}, grouped_number)


def _failures(days: list[Day]) -> Chart:
    title, nothing = gettext("Failed replies"), gettext("No reply failed.")
    failed, replies = sum(day.failed for day in days), sum(day.replies for day in days)
    total = f"{grouped_number(failed)} ({decimal_number(100 * failed / (replies or 1), 1)} %)"
    return _chart(title, total, nothing, days, {title: lambda day: day.failed}, grouped_number)


def _waits(days: list[Day]) -> Chart:
    title, nothing = gettext("Time to the first token"), gettext("No reply began.")
    newest = next((day for day in reversed(days) if day.half is not None), None)
    total = gettext("latest median: %(n)s") % {"n": _seconds(newest.half)} if newest else ""
    columns: dict[str, Callable[[Day], float | None]] = {
        gettext("95th percentile"): lambda day: day.most,
        gettext("Median"): lambda day: day.half,
    }
    return _chart(title, total, nothing, days, columns, _seconds)


def _costs(days: list[Day]) -> Chart:
    title, nothing = gettext("Cost"), gettext("Nothing that has a price was used.")
    total = written_cost(*(cost for day in days for cost in day.costs))
    return _chart(title, total, nothing, days, {title: _known_cost}, written_cost)


def _known_cost(day: Day) -> float | None:
    return sum(filter(None, day.costs)) or (None if None in day.costs else 0)


def _seconds(value: float | None) -> str:
    return "–" if value is None else gettext("%(n)s s") % {"n": decimal_number(value, 2)}


def _chart(
    title: str,
    total: str,
    nothing: str,
    days: list[Day],
    columns: dict[str, Callable[[Day], float | None]],
    written: Callable[[Any], str],
) -> Chart:
    rows = [(day.date, [value(day) for value in columns.values()]) for day in days]
    most = max((value or 0 for _date, values in rows for value in values), default=0)
    texts = [(date, [written(value) for value in values]) for date, values in reversed(rows)]
    bars = list(_bars([values for _date, values in rows], most)) if most else []
    scale = gettext("highest: %(n)s") % {"n": written(most)}
    if len(columns) > 1:
        scale += " · " + gettext("outlined: 95th percentile")
    return Chart(title, total, nothing, scale, list(columns), bars, texts)


def _bars(days: list[list[float | None]], most: float) -> Iterable[Bar]:
    """Yield the bars of each day, a lower one before the higher one that it stands in."""
    for place, values in enumerate(days):
        for number, value in enumerate(values):
            if value:
                height = round(max(1.0, HEIGHT * value / most), 1)
                part = "rest" if number + 1 < len(values) else "all"
                yield Bar(place * SLOT, HEIGHT - height, height, part)
