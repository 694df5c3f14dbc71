"""The figures of the whole site on each of the last days, in the active time zone.

A process remembers the days that are over, so a page reads only today: of a million messages as of a few.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any

from django.db import connection
from django.db.models import Count, FloatField, Q
from django.db.models.expressions import RawSQL
from django.utils import timezone

from chat.catalog.catalog import cost_of
from chat.models import Run

from .model_stats import ModelUsage, span_of, usage_of_spans

NUMBER = 30
SETTLED = timedelta(hours=2)  # after a day's end: the longest reply that began on it has ended
# For a difference of times SQLite would call a function of Django's for each row.
SECONDS = {
    "sqlite": "(julianday(first_token) - julianday(created)) * 86400",
    "postgresql": "EXTRACT(EPOCH FROM first_token - created)::float8",
}


@dataclass(slots=True)
class Day:
    """A day. `half` and `most`: seconds in which half and 95 % of the replies began; None without one."""

    date: date
    replies: int = 0
    people: int = 0
    failed: int = 0
    half: float | None = None
    most: float | None = None
    used: list[ModelUsage] = field(default_factory=list)

    @property
    def costs(self) -> list[float | None]:
        """Dollars of each model and tool that was used; None where the price is unknown."""
        return [cost_of(each) for each in self.used]


_over: dict[tuple[datetime, datetime], Day] = {}  # by start and end, which differ between time zones


def last_days() -> list[Day]:
    """Return the last days, today at the end. Those from the first that is not remembered on are read."""
    today, zone = timezone.localdate(), timezone.get_current_timezone()
    dates = [today - timedelta(days=ago) for ago in range(NUMBER - 1, -2, -1)]  # up to tomorrow
    starts = [datetime.combine(each, time(), zone).astimezone(UTC) for each in dates]
    spans = list(pairwise(starts))
    for span in [span for span in _over if span[1] < starts[0] - timedelta(days=2)]:
        _over.pop(span, None)
    first = next(place for place, span in enumerate(spans) if span not in _over)  # today never is
    days = [*map(_over.__getitem__, spans[:first]), *_read(dates[first:-1], starts[first:-1])]
    settled = timezone.now() - SETTLED
    _over.update((span, day) for span, day in zip(spans, days, strict=True) if span[1] < settled)
    return days


def _read(dates: Sequence[date], starts: Sequence[datetime]) -> list[Day]:
    """Return days in a row, of which the last is today: six queries, however many they are."""
    days = [Day(each, used=used) for each, used in zip(dates, usage_of_spans(starts), strict=True)]
    runs = Run.objects.filter(created__gte=starts[0]).order_by().annotate(day=span_of(starts))
    for place, *counts in _counts(runs):
        days[place].replies, days[place].people, days[place].failed = counts
    for place, waits in _waits(runs).items():
        number = len(waits)
        days[place].half, days[place].most = waits[(number - 1) // 2], waits[(95 * number - 1) // 100]
    return days


def _counts(runs: Any) -> Any:
    failed = Count("pk", filter=Q(status=Run.Status.FAILED))
    people = Count("user", distinct=True)
    return runs.values_list("day").annotate(replies=Count("pk"), people=people, failed=failed)


def _waits(runs: Any) -> dict[int, list[float]]:
    """Return the seconds of each day's replies, the shortest first.

    They are sorted here: SQLite's window functions take four times as long.
    """
    seconds = RawSQL(SECONDS[connection.vendor], [], FloatField())  # noqa: S611
    found: dict[int, list[float]] = defaultdict(list)
    began = runs.filter(first_token__isnull=False).annotate(seconds=seconds)
    for day, waited in began.values_list("day", "seconds").iterator():
        found[day].append(waited)
    return {day: sorted(waits) for day, waits in found.items()}
