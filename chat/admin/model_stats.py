"""Statistics: by model failures and the time to the first token, by model and person the usage and cost.

The usage is that of replies, API calls and titles together, and of the tools that ask for money.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import (
    BigIntegerField,
    Case,
    Count,
    DurationField,
    ExpressionWrapper,
    F,
    Q,
    Sum,
    Value,
    When,
    Window,
)
from django.db.models.functions import Coalesce, NullIf, RowNumber
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.catalog.catalog import cost_of, model_name
from chat.conversations.tools.shown import used_name
from chat.formats import grouped_number, written_cost
from chat.models import Call, Run, Step, TitleRequest, User

from .keyset import unindexed

PERIODS = {
    "today": (timedelta(), _("Today")),
    "hour": (timedelta(hours=1), _("Last hour")),
    "day": (timedelta(days=1), _("Last 24 hours")),
    "week": (timedelta(days=7), _("Last 7 days")),
    "month": (timedelta(days=30), _("Last 30 days")),
}
KINDS = ("prompt", "completion")  # of tokens
MAX_PEOPLE = 50  # whose usage is listed: those with the highest cost
# Not the column itself: see `unindexed`.
PERSON = ExpressionWrapper(F("user_id") + 0, output_field=BigIntegerField())
FIRST_TOKEN = ExpressionWrapper(F("first_token") - F("created"), output_field=DurationField())
COUNTED = Q(completion_tokens__isnull=False)
# The model that answered, and which rows count. A call that is stored as a run is counted as that. The
# condition is in the sums, since SQLite would use the index of a WHERE clause and read all calls ever made.
REQUEST_SOURCES: tuple[tuple[Any, Any, Q], ...] = (
    (Run, Coalesce(NullIf("answered_by", Value("")), "model"), COUNTED),
    (Call, unindexed("model"), COUNTED & Q(run=None)),
    (TitleRequest, unindexed("model"), COUNTED),
)
USAGE_PERMISSIONS = ("chat.view_run", "chat.view_call", "chat.view_titlerequest")


def start_of(period: str) -> datetime:
    """Return the start of the period; that of “today” is midnight in the active time zone."""
    now = timezone.localtime()
    if period == "today":
        return now.replace(hour=0, minute=0, second=0, microsecond=0)
    return now - PERIODS[period][0]


@dataclass(slots=True)
class Rate:
    """The ended runs of one model. `instead` counts those that a fallback model answered, not as failures."""

    model: str
    runs: int = 0
    failed: int = 0
    instead: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    median: float | None = None  # seconds to the first token

    @property
    def name(self) -> str:
        return model_name(self.model)

    @property
    def number(self) -> str:
        return grouped_number(self.runs)

    @property
    def share(self) -> float:
        """The share of failed runs, in per cent."""
        return 100 * self.failed / self.runs

    @property
    def by_code(self) -> list[tuple[str, int]]:
        """(error code, number of runs), the most frequent first."""
        return self.codes.most_common()


def rates(since: datetime) -> list[Rate]:
    """Return the rates of all models with ended runs since that time, most runs first. Always two queries."""
    ended = Run.objects.filter(created__gte=since, finished__isnull=False)
    found: dict[str, Rate] = {}
    for row in _counted(ended):
        rate = found.setdefault(row["name"], Rate(row["name"]))
        rate.runs += row["runs"]
        rate.instead += row["instead"]
        if row["error_code"]:
            rate.failed += row["runs"]
            rate.codes[row["error_code"]] += row["runs"]
    for row in _medians(ended):
        found[row["model"]].median = row["until_first"].total_seconds()
    return sorted(found.values(), key=lambda rate: (-rate.runs, rate.model))


def _counted(runs: Any) -> Any:
    groups = runs.order_by().annotate(name=unindexed("model")).values("name", "error_code")
    return groups.annotate(runs=Count("*"), instead=Count("pk", filter=~Q(answered_by="")))


def _medians(runs: Any) -> Any:
    """Return each model's run with the median time, by window functions: databases differ in their median."""
    heard = runs.filter(first_token__isnull=False, answered_by="")
    placed = heard.annotate(
        until_first=FIRST_TOKEN,
        place=Window(RowNumber(), partition_by=unindexed("model"), order_by=FIRST_TOKEN),
        total=Window(Count("*"), partition_by=unindexed("model")),
    )
    return placed.filter(place=(F("total") + 1) / 2).values("model", "until_first")


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """The usage of one model, or of a tool, whose calls cost `charged` dollars."""

    model: str
    requests: int
    prompt_tokens: int
    completion_tokens: int
    charged: float = 0.0

    @property
    def name(self) -> str:
        return used_name(self.model)

    @property
    def dollars(self) -> float | None:
        """The cost; None if the price of the model is unknown."""
        return cost_of(self)

    @property
    def number(self) -> str:
        return grouped_number(self.requests)

    @property
    def tokens(self) -> str:
        return f"{grouped_number(self.prompt_tokens)} / {grouped_number(self.completion_tokens)}"

    @property
    def cost(self) -> str:
        return written_cost(self.dollars)


@dataclass(frozen=True, slots=True)
class PersonUsage:
    """The usage of one person, by model and tool."""

    name: str
    used: list[ModelUsage]

    @property
    def number(self) -> str:
        return grouped_number(sum(each.requests for each in self.used))

    @property
    def tokens(self) -> str:
        read, written = (sum(getattr(each, f"{kind}_tokens") for each in self.used) for kind in KINDS)
        return f"{grouped_number(read)} / {grouped_number(written)}"

    @property
    def cost(self) -> str:
        return written_cost(*(each.dollars for each in self.used))


def people_since(since: datetime) -> list[PersonUsage]:
    """Return the usage of the people who cost most since that time. Always five queries."""
    usage = _usage(since, PERSON)
    costs = {key: sum(each.dollars or 0 for each in used) for key, used in usage.items()}
    first = sorted(usage, key=lambda key: (-costs[key], key))[:MAX_PEOPLE]
    names = dict(User.objects.filter(pk__in=first).values_list("pk", "username"))
    return [PersonUsage(names.get(key, "–"), usage[key]) for key in first]


def usage_since(since: datetime) -> list[ModelUsage]:
    """Return the usage of all models since that time, the most tokens first. Always four queries."""
    return usage_of_spans([since])[0]


def usage_of_spans(starts: Sequence[datetime]) -> list[list[ModelUsage]]:
    """Return the usage of all models from each of these times to the next. Always four queries."""
    usage = _usage(starts[0], span_of(starts))
    return [usage.get(place, []) for place in range(len(starts))]


def _usage(since: datetime, part: Any) -> dict[int, list[ModelUsage]]:
    """Return the usage of all models since that time, by the value of the expression `part`."""
    sums: dict[int, dict[str, Counter[str]]] = defaultdict(dict)
    for model, answered, counted in REQUEST_SOURCES:
        used = model.objects.filter(created__gte=since).annotate(part=part)
        for key, name, requests, prompt, completion in _by_model(used, answered, counted):
            if requests:
                found = sums[key].setdefault(name, Counter())
                found.update(requests=requests, prompt=prompt, completion=completion)
    usage = {
        key: [ModelUsage(name, n["requests"], n["prompt"], n["completion"]) for name, n in of.items()]
        for key, of in sums.items()
    }
    paid = Step.objects.filter(created__gte=since, user__isnull=False, cost__isnull=False).order_by()
    parts = paid.annotate(part=part).values_list("part", "tool")
    for key, tool, calls, charged in parts.annotate(calls=Count("*"), charged=Sum("cost")):
        usage.setdefault(key, []).append(ModelUsage(tool, calls, 0, 0, charged))
    return {key: sorted(of, key=_most_tokens_first) for key, of in usage.items()}


def span_of(starts: Sequence[datetime], first: int = 0) -> Any:
    """Return as an expression which of these times is the last one up to `created`, by halving them."""
    if len(starts) == 1:
        return Value(first)
    half = len(starts) // 2
    earlier = When(created__lt=starts[half], then=span_of(starts[:half], first))
    return Case(earlier, default=span_of(starts[half:], first + half))


def _by_model(used: Any, answered: Any, counted: Q) -> Any:
    groups = used.order_by().annotate(answered=answered).values_list("part", "answered")
    return groups.annotate(
        requests=Count("pk", filter=counted),
        prompt=Sum("prompt_tokens", filter=counted, default=0),
        completion=Sum("completion_tokens", filter=counted, default=0),
    )


def _most_tokens_first(used: ModelUsage) -> tuple[int, str]:
    return -(used.prompt_tokens + used.completion_tokens), used.model
