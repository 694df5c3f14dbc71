"""The overview: today's figures, the last days as charts, and the state of the set-up."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models.functions import Now
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_noop, ngettext

from chat.catalog import account, config
from chat.catalog.catalog import current
from chat.formats import grouped_number, written_cost
from chat.models import Call, CatalogState, McpTool, Run, Worker
from chat.models.worker import DEAD_AFTER

from .charts import charts
from .days import Day, last_days
from .model_stats import USAGE_PERMISSIONS

# The details of a failed fetch, as the ends of a sentence.
LIST_PROBLEMS = {
    "The list of models is empty.": gettext_noop("it is empty"),
    "The list does not end.": gettext_noop("it does not end"),
    "This is no list.": gettext_noop("the answer is not a list"),
    **dict.fromkeys(("ConnectTimeout", "ReadTimeout", "TimeoutError"), gettext_noop("no answer in time")),
    "ConnectError": gettext_noop("no connection"),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of today, with the URL of the list that it counts. `bad` marks one that is a problem."""

    name: str
    value: str
    url: str
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the set-up as far as it is known without asking any server."""

    sentences: list[str]
    bad: bool
    tools_changed: bool = False


def overview(request: HttpRequest) -> dict[str, Any]:
    """Return what the user may see of the overview."""
    user: Any = request.user
    days = last_days() if user.has_perm("chat.view_run") else []
    return {
        "figures": list(_figures(user, days)),
        "charts": charts(user, days) if any(day.replies or day.used for day in days) else [],
        "number": len(days),
        "zone": timezone.get_current_timezone(),
        "status": _status() if user.is_superuser else None,
    }


def _figures(user: Any, days: list[Day]) -> list[Figure]:
    today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    figures = _replies(days[-1], today) if days else []
    if user.has_perm("chat.view_call"):
        number = Call.objects.filter(created__gte=today).count()
        figures.append(Figure(capfirst(gettext("API calls")), grouped_number(number), _list("call", today)))
    if user.has_perms(USAGE_PERMISSIONS):
        cost = written_cost(*days[-1].costs)
        figures.append(Figure(gettext("Cost"), cost, reverse("admin:chat_run_rates") + "?period=today"))
    return figures


def _replies(day: Day, today: datetime) -> list[Figure]:
    return [
        Figure(gettext("Replies"), grouped_number(day.replies), _list("run", today)),
        Figure(
            gettext("Failed replies"),
            grouped_number(day.failed),
            _list("run", today, status__exact=Run.Status.FAILED.value),
            bad=day.failed > 0,
        ),
    ]


def _list(model: str, today: datetime, **filters: str) -> str:
    """Return the URL of today's rows, with the values of the filter “Today” of the list."""
    day = {"created__gte": str(today), "created__lt": str(today + timedelta(days=1))}
    return reverse(f"admin:chat_{model}_changelist") + "?" + urlencode(day | filters)


def _status() -> Status:
    """Return what is wrong, or else what is connected; then what works."""
    row = CatalogState.objects.filter(pk=CatalogState.ONLY).values_list("error", "fetched").first()
    error, fetched = row or ("", None)
    models, alive = len(list(current.get())), _alive()
    if error and fetched is None:
        offered = ngettext("%(n)s built-in model is offered.", "%(n)s built-in models are offered.", models)
    else:
        offered = ngettext("%(n)s model is offered.", "%(n)s models are offered.", models)
    if account.connected().is_unreadable:
        error = gettext("The token of the Cloudflare account can’t be read any more: connect it again.")
    elif error:
        error = _list_problem(error)
    sentences = [
        error or _connection(),
        offered % {"n": models},
        ngettext("%(n)s server process is running.", "%(n)s server processes are running.", alive)
        % {"n": alive},
    ]
    changed = sum(tool.has_changed for tool in McpTool.objects.filter(accepted__isnull=False, listed=True))
    if changed:
        words = ngettext(
            "%(n)s tool has changed: allow it again.", "%(n)s tools have changed: allow them again.", changed
        )
        sentences.insert(0, words % {"n": changed})
    return Status(sentences, bad=bool(error or changed), tools_changed=bool(changed))


def _list_problem(error: str) -> str:
    """Return what is wrong with Cloudflare's list. `error`: as `CatalogWatcher` has stored it."""
    why = gettext(LIST_PROBLEMS[error]) if error in LIST_PROBLEMS else error.rstrip(".")
    return gettext("Cloudflare’s list of models could not be loaded: %(why)s.") % {"why": why}


def _connection() -> str:
    if config.account():
        return gettext("A Cloudflare account is connected.")
    if endpoint := config.endpoint():
        return gettext("The server %(host)s is connected.") % {"host": endpoint.host}
    return gettext("No Cloudflare account is connected.")


def _alive() -> int:
    return Worker.objects.filter(heartbeat_at__gte=Now() - DEAD_AFTER).count()
