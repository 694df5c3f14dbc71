"""Statistics by model: the share of failed runs, their error codes, and the time to the first token."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, DurationField, ExpressionWrapper, F, Q, Window
from django.db.models.functions import RowNumber
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.catalog.catalog import model_name
from chat.formats import grouped_number
from chat.models import Run

from .keyset import unindexed

PERIODS = {
    "today": (timedelta(), _("Today")),
    "hour": (timedelta(hours=1), _("Last hour")),
    "day": (timedelta(days=1), _("Last 24 hours")),
    "week": (timedelta(days=7), _("Last 7 days")),
}
FIRST_TOKEN = ExpressionWrapper(F("first_token") - F("created"), output_field=DurationField())


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
        found[row["model"]].median = row["waited"].total_seconds()
    return sorted(found.values(), key=lambda rate: (-rate.runs, rate.model))


def _counted(runs: Any) -> Any:
    groups = runs.order_by().annotate(name=unindexed("model")).values("name", "error_code")
    return groups.annotate(runs=Count("*"), instead=Count("pk", filter=~Q(answered_by="")))


def _medians(runs: Any) -> Any:
    """Return each model's run with the median time, by window functions: databases differ in their median."""
    heard = runs.filter(first_token__isnull=False, answered_by="")
    placed = heard.annotate(
        waited=FIRST_TOKEN,
        place=Window(RowNumber(), partition_by=unindexed("model"), order_by=FIRST_TOKEN),
        total=Window(Count("*"), partition_by=unindexed("model")),
    )
    return placed.filter(place=(F("total") + 1) / 2).values("model", "waited")
