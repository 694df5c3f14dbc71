"""The figures of the whole site on each of the last days, in the active time zone.

A process remembers the days that are over, so a page reads only today: of a million messages as of a few.
"""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from django.db import connection
from django.db.models import Count, Q
from django.utils import timezone

from chat.catalog.catalog import cost_of
from chat.db.rows import column_of
from chat.models import Run

from .model_stats import ModelUsage, usage_since

NUMBER = 30
SETTLED = timedelta(hours=2)  # after a day's end: the longest reply that began on it has ended
# The reply in the middle, and the one that 95 of 100 do not wait longer than.
WAITS = """
SELECT seconds FROM (
    SELECT {seconds} AS seconds, COUNT(*) OVER () AS total, ROW_NUMBER() OVER (ORDER BY {seconds}) AS place
    FROM chat_run WHERE created >= %s AND created < %s AND first_token IS NOT NULL
) waits WHERE place = (total + 1) / 2 OR place = (total * 95 + 99) / 100 ORDER BY place
"""
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
    """Return the last days, today at the end: six queries for each that is not remembered."""
    today, zone = timezone.localdate(), timezone.get_current_timezone()
    dates = [today - timedelta(days=ago) for ago in range(NUMBER - 1, -2, -1)]  # up to tomorrow
    starts = [datetime.combine(each, time(), zone).astimezone(UTC) for each in dates]
    for span in [span for span in _over if span[1] < starts[0] - timedelta(days=2)]:
        _over.pop(span, None)
    return [_day(*each) for each in zip(dates, starts, starts[1:], strict=False)]


def _day(date: date, start: datetime, end: datetime) -> Day:
    if (day := _over.get((start, end))) is None:
        day = _read(date, start, end)
        if end + SETTLED < timezone.now():
            _over[start, end] = day
    return day


def _read(date: date, start: datetime, end: datetime) -> Day:
    runs = Run.objects.filter(created__gte=start, created__lt=end).order_by()
    counts = runs.aggregate(
        replies=Count("pk"),
        people=Count("user", distinct=True),
        failed=Count("pk", filter=Q(status=Run.Status.FAILED)),
    )
    waits = _waits(start, end)
    half, most = (waits[0], waits[-1]) if waits else (None, None)
    return Day(date, **counts, half=half, most=most, used=usage_since(start, end))


def _waits(start: datetime, end: datetime) -> list[float]:
    sql = WAITS.format(seconds=SECONDS[connection.vendor])
    return column_of(sql, [connection.ops.adapt_datetimefield_value(each) for each in (start, end)])
