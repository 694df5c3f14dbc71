"""The bar on each page of the administration: its lists and other pages, in groups."""

from dataclasses import dataclass, replace
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

# Titles of the groups, and the models in them.
GROUPS = (
    (_("People"), ("User", "Invite", "Group")),
    (_("Chats"), ("Conversation", "SharedLink", "ConversationAccess")),
    (_("Models"), ("SiteModel", "McpServer", "Assistant")),
    (_("Usage"), ("Run", "Call", "TitleRequest", "ApiKey")),
    (_("System"), ("Worker",)),
)


@dataclass(frozen=True, slots=True)
class Item:
    """A page. `current` is the value of `aria-current`: "page" here, "true" on a page below it, else ""."""

    name: str
    url: str
    current: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    items: list[Item]


def bar(request: HttpRequest, apps: list[dict[str, Any]] | None = None) -> list[Group]:
    """Return the groups with the pages the user has rights to, the one that is shown marked.

    `apps` is Django's list of the models with rights, if it is known already.
    """
    groups = _groups(request.user, admin.site.get_app_list(request) if apps is None else apps)
    open_now = [item.url for group in groups for item in group.items if request.path.startswith(item.url)]
    nearest = max(open_now, key=len, default="")
    mark = "page" if nearest == request.path else "true"
    return [
        Group(
            group.title,
            [replace(item, current=mark) if item.url == nearest else item for item in group.items],
        )
        for group in groups
    ]


def _groups(user: Any, apps: list[dict[str, Any]]) -> list[Group]:
    """Return the groups that have pages. A model without a group is under “System”."""
    models = {each["object_name"]: each for app in apps for each in app["models"] if each["admin_url"]}
    placed = {name for _title, names in GROUPS for name in names}
    groups = []
    for title, names in GROUPS:
        last = [] if title != GROUPS[-1][0] else [name for name in models if name not in placed]
        lists = [models[name] for name in (*names, *last) if name in models]
        items = [Item(_name(each), each["admin_url"]) for each in lists]
        groups.append(Group(str(title), items + _pages(user, names)))
    return [group for group in groups if group.items]


def _name(model: dict[str, Any]) -> str:
    return str(getattr(admin.site.get_model_admin(model["model"]), "title", "") or model["name"])


def _pages(user: Any, names: tuple[str, ...]) -> list[Item]:
    """Return the pages of a group that are no lists."""
    pages = []
    if "Run" in names and user.has_perm("chat.view_run"):
        pages.append(Item(gettext("Statistics"), reverse("admin:chat_run_rates")))
    is_root = getattr(user, "is_superuser", False)
    if "SiteModel" in names and is_root:
        pages.append(Item("Cloudflare", reverse("connect")))
    if "Worker" in names and is_root:
        pages.append(Item(gettext("Name and picture"), reverse("site")))
        pages.append(Item(gettext("Setup check"), reverse("checkup")))
    return pages
