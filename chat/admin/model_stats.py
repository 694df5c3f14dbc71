"""How the models do: what share of the runs failed and of what, and how soon the first token came."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, DurationField, ExpressionWrapper, F, Q, Window
from django.db.models.functions import RowNumber
from django.utils.translation import gettext_lazy as _

from chat.formats import grouped_number
from chat.models import Run

from .transcript import model_name

PERIODS = {
    "hour": (timedelta(hours=1), _("The last hour")),
    "day": (timedelta(days=1), _("The last day")),
    "week": (timedelta(days=7), _("The last week")),
}
FIRST_TOKEN = ExpressionWrapper(F("first_token") - F("created"), output_field=DurationField())


@dataclass(slots=True)
class Rate:
    """One model's runs that have ended. `instead`: another model answered, which is no failure."""

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
        """Per cent."""
        return 100 * self.failed / self.runs

    @property
    def by_code(self) -> list[tuple[str, int]]:
        """The most frequent first."""
        return self.codes.most_common()


def rates(since: datetime) -> list[Rate]:
    """Of every model asked since then, the one asked most first. Two queries, whatever there is."""
    ended = Run.objects.filter(created__gte=since, finished__isnull=False)
    found: dict[str, Rate] = {}
    for row in _counted(ended):
        rate = found.setdefault(row["model"], Rate(row["model"]))
        rate.runs += row["runs"]
        rate.instead += row["instead"]
        if row["error_code"]:
            rate.failed += row["runs"]
            rate.codes[row["error_code"]] += row["runs"]
    for row in _medians(ended):
        found[row["model"]].median = row["waited"].total_seconds()
    return sorted(found.values(), key=lambda rate: (-rate.runs, rate.model))


def _counted(runs: Any) -> Any:
    groups = runs.order_by().values("model", "error_code")
    return groups.annotate(runs=Count("*"), instead=Count("pk", filter=~Q(answered_by="")))


def _medians(runs: Any) -> Any:
    """The run in the middle of each model's. Databases differ in how they would say median."""
    heard = runs.filter(first_token__isnull=False, answered_by="")
    placed = heard.annotate(
        waited=FIRST_TOKEN,
        place=Window(RowNumber(), partition_by=F("model"), order_by=FIRST_TOKEN),
        total=Window(Count("*"), partition_by=F("model")),
    )
    return placed.filter(place=(F("total") + 1) / 2).values("model", "waited")
