"""The usage of one person, by day and model: four grouped queries, each of which reads only an index."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

# For each day a range of the index, so the days can be those of any time zone. CROSS JOIN makes SQLite begin
# with the days.
BY_DAY = """
WITH days(day, starts, ends) AS (VALUES {days})
SELECT days.day, {model}, COUNT(*), SUM(used.prompt_tokens), SUM(used.completion_tokens)
FROM days CROSS JOIN {table} used
WHERE used.user_id = %s AND used.created >= days.starts AND used.created < days.ends
    AND used.completion_tokens IS NOT NULL{only}
GROUP BY 1, 2
"""
# Table, the model that answered, and a condition. A call that is stored as a run is counted as that.
USAGE_TABLES = (
    ("chat_run", "COALESCE(NULLIF(used.answered_by, ''), used.model)", ""),
    ("chat_call", "used.model", " AND used.run_id IS NULL"),
    ("chat_titlerequest", "used.model", ""),
    ("chat_purgedusage", "used.model", ""),
)


class DayUsage(NamedTuple):
    """The usage of one model on one day. Titles and API calls count as requests, too."""

    day: int
    model: str
    requests: int
    prompt_tokens: int
    completion_tokens: int

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


def usage_of(user: Any, starts: Sequence[datetime]) -> list[DayUsage]:
    """Return what the person used, by day and model. Day n begins at `starts[n - 1]`; the last ends one."""
    sums: dict[tuple[int, str], Counter[str]] = {}
    for table, model, only in USAGE_TABLES:
        for day, name, requests, prompt, completion in _rows(user, starts, table, model, only):
            sums.setdefault((day, name), Counter()).update(
                requests=requests, prompt=int(prompt or 0), completion=int(completion)
            )
    return [
        DayUsage(day, name, found["requests"], found["prompt"], found["completion"])
        for (day, name), found in sorted(sums.items())
    ]


def _rows(user: Any, starts: Sequence[datetime], table: str, model: str, only: str) -> list[tuple[Any, ...]]:
    adapted = [connection.ops.adapt_datetimefield_value(start) for start in starts]
    days = list(zip(range(1, len(starts)), adapted, adapted[1:], strict=False))
    values = ", ".join(["(%s, %s, %s)"] * len(days))
    sql = BY_DAY.format(days=values, table=table, model=model, only=only)
    with connection.cursor() as cursor:
        cursor.execute(sql, [*(value for day in days for value in day), user.pk])
        return cursor.fetchall()
