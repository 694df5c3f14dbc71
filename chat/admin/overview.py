"""The overview: today's figures, the state of the set-up, and all lists in groups."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count
from django.db.models.functions import Now
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext_lazy as _

from chat.catalog import config
from chat.catalog.catalog import current
from chat.formats import grouped_number
from chat.models import Call, CatalogState, Run, Worker
from chat.models.worker import DEAD_AFTER

from .keyset import unindexed
from .model_stats import USAGE_PERMISSIONS, total_cost, usage_since

# Titles of the groups, and the models in them.
GROUPS = (
    (_("People"), ("User", "Invite", "Group")),
    (_("Conversations"), ("Conversation", "SharedLink", "ConversationAccess")),
    (_("Models"), ("SiteModel", "Assistant")),
    (_("Usage"), ("Run", "Call", "TitleRequest", "ApiKey")),
    (_("System"), ("Worker",)),
)
MODEL_DESCRIPTIONS = {
    "User": _("Accounts, roles and passwords"),
    "Invite": _("Links with which people create their account"),
    "Group": _("Permissions, and access to models"),
    "Conversation": _("Read and search what people and models wrote"),
    "SharedLink": _("Who shares conversations by a link, and until when"),
    "ConversationAccess": _("Who read whose conversations, and when"),
    "SiteModel": _("Which models are offered, to whom, and the default"),
    "Assistant": _("Who published which assistants, and to whom"),
    "Run": _("Each attempt at a reply: outcome, tokens, errors"),
    "Call": _("Requests by programs, with their keys"),
    "TitleRequest": _("Generated titles: outcome and tokens"),
    "ApiKey": _("Keys of people’s programs, to be revoked here"),
    "Worker": _("Server processes, and the replies they are writing"),
}
# The details of a failed fetch, as the ends of a sentence.
LIST_PROBLEMS = {
    "The list of models is empty.": gettext_noop("it is empty"),
    "The list does not end.": gettext_noop("it does not end"),
    "This is no list.": gettext_noop("what came is no list"),
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
class Item:
    """A list: its name, what it holds, its URL, and the URL that adds a row, "" if there is none."""

    name: str
    about: str
    url: str
    add_url: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    items: list[Item] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the set-up as far as it is known without asking any server."""

    sentences: list[str]
    bad: bool


def overview(request: HttpRequest, apps: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the user may see of the overview. `apps` is Django's list of the models with rights."""
    return {
        "figures": list(_figures(request.user)),
        "status": _status() if getattr(request.user, "is_superuser", False) else None,
        "groups": _groups(request.user, apps),
    }


def _figures(user: Any) -> list[Figure]:
    today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    figures = []
    if user.has_perm("chat.view_run"):
        figures += _replies(today)
    if user.has_perm("chat.view_call"):
        number = sum(_by_status(Call, today).values())
        figures.append(Figure(gettext("API calls"), grouped_number(number), _list("call", today)))
    if user.has_perms(USAGE_PERMISSIONS):
        cost = total_cost(usage_since(today))
        figures.append(Figure(gettext("Cost"), cost, reverse("admin:chat_run_rates") + "?period=today"))
    return figures


def _replies(today: datetime) -> list[Figure]:
    states = _by_status(Run, today)
    failed = states[Run.Status.FAILED]
    return [
        Figure(gettext("Replies"), grouped_number(sum(states.values())), _list("run", today)),
        Figure(
            gettext("Failed replies"),
            grouped_number(failed),
            _list("run", today, status__exact=Run.Status.FAILED.value),
            bad=failed > 0,
        ),
    ]


def _by_status(model: Any, since: datetime) -> Counter[str]:
    rows = model.objects.filter(created__gte=since).order_by()
    found = rows.annotate(state=unindexed("status")).values_list("state")
    return Counter(dict(found.annotate(number=Count("*"))))


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
    sentences = [
        _list_problem(error) if error else _connection(),
        offered % {"n": models},
        ngettext("%(n)s server process is running.", "%(n)s server processes are running.", alive)
        % {"n": alive},
    ]
    return Status(sentences, bad=bool(error))


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


def _groups(user: Any, apps: list[dict[str, Any]]) -> list[Group]:
    """Return the groups with the models the user has rights to. A model without a group is under “System”."""
    models = {each["object_name"]: each for app in apps for each in app["models"] if each["admin_url"]}
    placed = {name for _title, names in GROUPS for name in names}
    groups = []
    for title, names in GROUPS:
        last = [] if title != GROUPS[-1][0] else [name for name in models if name not in placed]
        items = [_item(name, models[name]) for name in (*names, *last) if name in models]
        groups.append(Group(str(title), items + _pages(user, names)))
    return [group for group in groups if group.items]


def _item(name: str, model: dict[str, Any]) -> Item:
    return Item(
        model["name"], str(MODEL_DESCRIPTIONS.get(name, "")), model["admin_url"], model["add_url"] or ""
    )


def _pages(user: Any, names: tuple[str, ...]) -> list[Item]:
    """Return the pages of a group that are no lists."""
    pages = []
    if "SiteModel" in names and user.has_perm("chat.view_run"):
        about = gettext("Failures, speed and cost of each model")
        pages.append(Item(gettext("Statistics by model"), about, reverse("admin:chat_run_rates")))
    if "Worker" in names and user.is_superuser:
        about = gettext("Tests the database, Redis, Cloudflare and the models")
        pages.append(Item(gettext("Setup check"), about, reverse("checkup")))
    return pages
