"""The usage of one person, by day and model or tool: grouped queries, of which each reads only an index.

The usage of purged runs, title requests and steps has rows of its own, which are read themselves.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection, models

# For each day a range of the index, so the days can be those of any time zone. CROSS JOIN makes SQLite begin
# with the days.
BY_DAY = """
WITH days(day, starts, ends) AS (VALUES {days})
SELECT days.day, {model}, COUNT(*), {sums}
FROM days CROSS JOIN {table} used
WHERE used.user_id = %s AND used.created >= days.starts AND used.created < days.ends AND {only}
GROUP BY 1, 2
"""
TOKENS = "SUM(used.prompt_tokens), SUM(used.completion_tokens), 0"
COUNTED = "used.completion_tokens IS NOT NULL"
# Table, the model that answered or the tool, the sums of tokens and dollars, and a condition. A call that is
# stored as a run is counted as that.
USAGE_TABLES = (
    ("chat_run", "COALESCE(NULLIF(used.answered_by, ''), used.model)", TOKENS, COUNTED),
    ("chat_call", "used.model", TOKENS, f"{COUNTED} AND used.run_id IS NULL"),
    ("chat_titlerequest", "used.model", TOKENS, COUNTED),
    ("chat_purgedusage", "used.model", TOKENS.replace(", 0", ", SUM(used.charged)"), COUNTED),
    ("chat_step", "used.tool", "0, 0, SUM(used.cost)", "used.cost IS NOT NULL"),
)
# As `usage_of` counts them: with the model that answered. A call outlives its run, and counts itself then.
FROM_RUNS = """
INSERT INTO chat_purgedusage (user_id, created, model, prompt_tokens, completion_tokens)
SELECT user_id, created, COALESCE(NULLIF(answered_by, ''), model), prompt_tokens, completion_tokens
FROM chat_run WHERE completion_tokens IS NOT NULL AND message_id IN ({keys})
    AND NOT EXISTS (SELECT 1 FROM chat_call WHERE chat_call.run_id = chat_run.id)
"""
FROM_TITLES = """
INSERT INTO chat_purgedusage (user_id, created, model, prompt_tokens, completion_tokens)
SELECT user_id, created, model, prompt_tokens, completion_tokens
FROM chat_titlerequest WHERE completion_tokens IS NOT NULL AND conversation_id IN ({keys})
"""
FROM_STEPS = """
INSERT INTO chat_purgedusage (user_id, created, model, prompt_tokens, completion_tokens, charged)
SELECT user_id, created, tool, 0, 0, cost
FROM chat_step WHERE cost IS NOT NULL AND user_id IS NOT NULL AND message_id IN ({keys})
"""
PURGED_TABLES = {"Message": (FROM_RUNS, FROM_STEPS), "Conversation": (FROM_TITLES,)}


class DayUsage(NamedTuple):
    """The usage of one model on one day. Titles and API calls count as requests, too.

    Also that of a tool, by its name: its calls are the requests, and cost `charged` dollars.
    """

    day: int
    model: str
    requests: int
    prompt_tokens: int
    completion_tokens: int
    charged: float = 0.0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


def usage_of(user: Any, starts: Sequence[datetime]) -> list[DayUsage]:
    """Return what the person used, by day and model or tool.

    Day n begins at `starts[n - 1]`; the last one ends a day.
    """
    sums: dict[tuple[int, str], Counter[str]] = {}
    charged: Counter[tuple[int, str]] = Counter()
    for source in USAGE_TABLES:
        for day, name, requests, prompt, completion, cost in _rows(user, starts, *source):
            sums.setdefault((day, name), Counter()).update(
                requests=requests, prompt=int(prompt or 0), completion=int(completion)
            )
            charged[day, name] += cost or 0
    return [
        DayUsage(*key, found["requests"], found["prompt"], found["completion"], charged[key])
        for key, found in sorted(sums.items())
    ]


def _rows(
    user: Any, starts: Sequence[datetime], table: str, model: str, summed: str, only: str
) -> list[tuple[Any, ...]]:
    adapted = [connection.ops.adapt_datetimefield_value(start) for start in starts]
    days = list(zip(range(1, len(starts)), adapted, adapted[1:], strict=False))
    values = ", ".join(["(%s, %s, %s)"] * len(days))
    sql = BY_DAY.format(days=values, table=table, model=model, sums=summed, only=only)
    with connection.cursor() as cursor:
        cursor.execute(sql, [*(value for day in days for value in day), user.pk])
        return cursor.fetchall()


class PurgedUsageManager(models.Manager["PurgedUsage"]):
    def keep(self, model: type[models.Model], keys: list[Any]) -> None:
        """Keep the usage of these messages or conversations, in the transaction that purges them."""
        if not keys:
            return
        places, pk = ", ".join(["%s"] * len(keys)), model._meta.pk
        with connection.cursor() as cursor:
            for sql in PURGED_TABLES[model.__name__]:
                cursor.execute(
                    sql.format(keys=places), [pk.get_db_prep_value(key, connection) for key in keys]
                )


class PurgedUsage(models.Model):
    """The tokens of one request whose row is gone, with its text.

    Also a call of a tool, whose name is in `model` then, for which `charged` dollars were asked.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="+",
        db_index=False,  # the index below begins with it
    )
    created = models.DateTimeField()
    model = models.CharField(max_length=200)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField()
    charged = models.FloatField(null=True)

    objects = PurgedUsageManager()

    class Meta:
        default_permissions = ()
        indexes = [
            # Covers the usage of a person.
            models.Index(
                fields=["user", "created", "model", "prompt_tokens", "completion_tokens"],
                name="purged_usage",
            )
        ]

    def __str__(self) -> str:
        return f"{self.model} {self.created}"
