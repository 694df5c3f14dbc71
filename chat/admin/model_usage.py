"""Usage and cost by model: replies, API calls and titles together."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, Sum, Value
from django.db.models.functions import Coalesce, NullIf
from django.utils.translation import gettext

from chat.catalog.catalog import dollars, model_name
from chat.formats import grouped_number, written_dollars
from chat.models import Call, Run, TitleRequest

from .keyset import unindexed

COUNTED = Q(completion_tokens__isnull=False)
# The model that answered, and which rows count. A call that is stored as a run is counted as that. The
# condition is in the sums, since SQLite would use the index of a WHERE clause and read all calls ever made.
REQUEST_SOURCES: tuple[tuple[Any, Any, Q], ...] = (
    (Run, Coalesce(NullIf("answered_by", Value("")), "model"), COUNTED),
    (Call, unindexed("model"), COUNTED & Q(run=None)),
    (TitleRequest, unindexed("model"), COUNTED),
)
USAGE_PERMISSIONS = ("chat.view_run", "chat.view_call", "chat.view_titlerequest")


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """The usage of one model. `dollars` is None if its price is unknown."""

    model: str
    requests: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float | None

    @property
    def name(self) -> str:
        return model_name(self.model)

    @property
    def number(self) -> str:
        return grouped_number(self.requests)

    @property
    def tokens(self) -> str:
        return f"{grouped_number(self.prompt_tokens)} / {grouped_number(self.completion_tokens)}"

    @property
    def cost(self) -> str:
        return "–" if self.dollars is None else written_dollars(self.dollars)


def usage_since(since: datetime) -> list[ModelUsage]:
    """Return the usage of all models since that time, the most tokens first. Always three queries."""
    sums: dict[str, Counter[str]] = {}
    for model, answered, counted in REQUEST_SOURCES:
        used = model.objects.filter(created__gte=since)
        for name, requests, prompt, completion in _by_model(used, answered, counted):
            if requests:
                found = sums.setdefault(name, Counter())
                found.update(requests=requests, prompt=prompt, completion=completion)
    return sorted((_usage(*each) for each in sums.items()), key=_most_tokens_first)


def _by_model(used: Any, answered: Any, counted: Q) -> Any:
    groups = used.order_by().annotate(answered=answered).values_list("answered")
    return groups.annotate(
        requests=Count("pk", filter=counted),
        prompt=Sum("prompt_tokens", filter=counted, default=0),
        completion=Sum("completion_tokens", filter=counted, default=0),
    )


def _usage(model: str, found: Counter[str]) -> ModelUsage:
    prompt, completion = found["prompt"], found["completion"]
    return ModelUsage(model, found["requests"], prompt, completion, dollars([(model, prompt, completion)]))


def _most_tokens_first(used: ModelUsage) -> tuple[int, str]:
    return -(used.prompt_tokens + used.completion_tokens), used.model


def total_cost(used: Iterable[ModelUsage]) -> str:
    """Return the cost of the models whose prices are known; “at least” that if others were used as well."""
    costs = [each.dollars for each in used]
    known = written_dollars(sum(cost for cost in costs if cost is not None))
    return gettext("at least %(cost)s") % {"cost": known} if None in costs else known
