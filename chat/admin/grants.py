"""Grants of people that staff can take back: API keys, shared links, published assistants."""

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.db import connection
from django.db.models import Case, F, QuerySet, Value, When
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat.db.executor import write_lock
from chat.library import assistants
from chat.library.publication import permission
from chat.models import ApiKey, Assistant, SharedLink, User

from .base import ChatAdmin, ConfirmedForm
from .changelist import MAX_PEOPLE_OF_CONVERSATIONS, terms_of
from .columns import in_words, person_column, time_column
from .keyset import KeysetChangeList


class GrantAdmin(ChatAdmin):
    """A list whose rows only actions change: without a form, without a page for a single row."""

    list_display_links = None
    ordering = ("-created",)
    has_pages = False
    created_ = time_column("created", _("created"))

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: the owner creates the rows, on a page of the chat."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: actions revoke, and write it to the log. Other rows refer to a revoked key."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return True for the list only, for its actions."""
        return obj is None and super().has_change_permission(request)

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        """Return True for the filters' columns only: others would reveal what the list does not show."""
        return lookup.partition("__")[0] in self.list_filter


@admin.register(ApiKey)
class ApiKeyAdmin(GrantAdmin):
    """All users' keys. Secrets cannot be shown, because they are not stored.

    Staff with the right to change keys can revoke them; administrators can also let them set the AI Gateway.
    """

    list_display = (
        "name",
        "prefix_",
        "user_",
        "scopes",
        "keeps_conversations",
        "state",
        "last_used_",
        "created_",
    )
    list_select_related = ("user",)
    list_filter = ("keeps_conversations", "created")
    search_fields = ("name", "prefix", "user__username")
    actions = ("revoke", "allow_gateway", "forbid_gateway")
    user_ = person_column("user", _("person"))
    last_used_ = time_column("last_used", _("last used"))
    created_ = time_column("created", _("created"))

    @admin.display(description=_("begins with"), ordering="prefix")
    def prefix_(self, obj: ApiKey) -> SafeString:
        return format_html("<code>{}…</code>", obj.prefix)

    @admin.display(description=_("permissions"))
    def scopes(self, obj: ApiKey) -> str:
        allowed = {
            _("run models"): obj.may_run,
            _("list models"): obj.may_list,
            _("export chats"): obj.may_export,
            _("set AI Gateway options"): obj.may_set_gateway,
        }
        return ", ".join(str(name) for name, allowed in allowed.items() if allowed)

    @admin.display(description=_("state"))
    def state(self, obj: ApiKey) -> str:
        if obj.revoked:
            return _("revoked on %(when)s") % {"when": in_words(obj.revoked)}
        return _validity(obj, obj.user)

    @admin.action(description=_("Revoke the selected keys"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet) -> None:
        """Revoke the keys for good. Requests in progress with them end within seconds."""
        revoked = [key for key in queryset if key.revoke()]
        for key in revoked:
            self.log_change(request, key, "Revoked.")
        words = ngettext("%(number)d key was revoked.", "%(number)d keys were revoked.", len(revoked))
        messages.success(request, words % {"number": len(revoked)})

    @admin.action(description=_("Allow the selected keys to set AI Gateway options"), permissions=["gateway"])
    def allow_gateway(self, request: HttpRequest, queryset: QuerySet) -> TemplateResponse | None:
        """Ask for confirmation; then let calls with these keys choose the AI Gateway and its settings."""
        form = ConfirmedForm(request.POST if "confirmed" in request.POST else None)
        form.request = request
        if form.is_valid():
            self._set_gateway(request, queryset, allowed=True)
            return None
        keys = queryset.select_related("user")
        return self.page(request, "allow_gateway", _("Allow AI Gateway options"), form=form, keys=keys)

    @admin.action(
        description=_("Stop the selected keys from setting AI Gateway options"), permissions=["gateway"]
    )
    def forbid_gateway(self, request: HttpRequest, queryset: QuerySet) -> None:
        """Refuse calls with these keys that set the AI Gateway."""
        self._set_gateway(request, queryset, allowed=False)

    def _set_gateway(self, request: HttpRequest, queryset: QuerySet, *, allowed: bool) -> None:
        changed = list(queryset.filter(may_set_gateway=not allowed))
        queryset.model.objects.filter(pk__in=[key.pk for key in changed]).update(may_set_gateway=allowed)
        for key in changed:
            note = "May set the AI Gateway." if allowed else "May not set the AI Gateway."
            self.log_change(request, key, note)
        words = ngettext("%(number)d key was changed.", "%(number)d keys were changed.", len(changed))
        messages.success(request, words % {"number": len(changed)})

    def has_gateway_permission(self, request: HttpRequest) -> bool:
        """Return True for administrators only: a gateway's log, cache and costs belong to the account."""
        return bool(request.user.is_active and getattr(request.user, "is_superuser", False))


@admin.register(SharedLink)
class SharedLinkAdmin(GrantAdmin):
    """A list for reviewers. Staff with the right to change links can revoke them.

    The titles are content, so they stand only in the transcript, whose readings are recorded.
    """

    list_display = ("user_", "conversation_", "shows_name", "state", "created_")
    list_select_related = ("leaf__conversation__user",)
    list_filter = ("shows_name", "created")
    search_fields = ("leaf__conversation__user__username",)  # makes Django show the search box
    sortable_by = ("created_",)
    actions = ("revoke",)
    changelist = KeysetChangeList
    user_ = person_column("leaf.conversation.user", _("person"))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        """Return the links of the people with all these terms in their name, of the first ones by name.

        The people are looked up first: comparing the name of each link's owner took 200 ms for 20,000 links.
        """
        if not (terms := terms_of(search_term)):
            return queryset, False
        people = User.objects.order_by("username")
        for term in terms:
            people = people.filter(username__icontains=term)
        keys = list(people.values_list("pk", flat=True)[:MAX_PEOPLE_OF_CONVERSATIONS])
        # Coalesce keeps SQLite from beginning with these people, and reading all of their messages.
        owner: Any = F("leaf__conversation__user")
        owner = Coalesce(owner, 0) if connection.vendor == "sqlite" else owner
        return queryset.alias(owner=owner).filter(owner__in=keys), False

    @admin.display(description=_("chat"))
    def conversation_(self, obj: SharedLink) -> SafeString:
        """A link to the branch that is shared."""
        page = reverse("admin:chat_conversation_change", args=[obj.leaf.conversation_id])
        return format_html('<a href="{}?leaf={}">{}</a>', page, obj.leaf_id, _("Read"))

    @admin.display(description=_("state"))
    def state(self, obj: SharedLink) -> str:
        if settings.SHARING == "off":
            return str(_("sharing is turned off"))
        return _validity(obj, obj.leaf.conversation.user, forever=settings.SHARING == "permanent")

    @admin.action(description=_("Revoke the selected links"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet) -> None:
        """Delete the links. Their pages are gone at once."""
        found = list(queryset)
        for link in found:
            self.log_change(request, link, "Revoked.")
        with write_lock():
            SharedLink.objects.filter(pk__in=[link.pk for link in found]).delete()
        words = ngettext("%(number)d link was revoked.", "%(number)d links were revoked.", len(found))
        messages.success(request, words % {"number": len(found)})

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return True for staff who may read conversations, and for the list only."""
        return obj is None and request.user.has_perm("chat.view_conversation")


@admin.register(Assistant)
class AssistantAdmin(GrantAdmin):
    """A list for staff who may publish assistants. They can end the publication of each.

    The instructions are content that the owner may have written for no one else, so they stand in no list.
    """

    list_display = ("name", "owner_", "published_to", "published_by_", "created_")
    list_select_related = ("current", "owner", "published_by")
    list_filter = ("everybody", "created")
    search_fields = ("published_name", "owner__username")
    actions = ("withdraw",)
    owner_ = person_column("owner", _("person"))
    published_by_ = person_column("published_by", _("published by"))

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        """Return the assistants that are not deleted, with their groups, and the names that `name` shows."""
        is_published = When(pk__in=Assistant.objects.published().values("pk"), then="current__name")
        found = super().get_queryset(request).filter(deleted=None).prefetch_related("groups")
        return found.alias(published_name=Case(is_published, default=Value("")))

    @admin.display(description=_("name"), ordering="published_name")
    def name(self, obj: Assistant) -> SafeString | str:
        """Return the name of a published one; that of a private one is nobody else's business."""
        is_published = obj.everybody or obj.groups.all()
        return format_html("<bdi>{}</bdi>", obj.current) if is_published else str(_("private"))

    @admin.display(description=_("published to"))
    def published_to(self, obj: Assistant) -> str:
        if obj.everybody:
            return str(_("everybody"))
        return ", ".join(map(str, obj.groups.all()))

    @admin.action(description=_("End the publication of the selected assistants"), permissions=["publish"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet) -> None:
        """End the publications. Conversations that began with the assistants go on."""
        found = list(queryset)
        ended = assistants.withdraw([assistant.pk for assistant in found])
        for assistant in found:
            self.log_change(request, assistant, "Publication ended.")
        words = ngettext("%(number)d publication was ended.", "%(number)d publications were ended.", ended)
        messages.success(request, words % {"number": ended})

    def has_publish_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return True for staff who may publish assistants, and for the list only."""
        return obj is None and request.user.has_perm(permission(Assistant))

    has_module_permission = has_view_permission = has_change_permission = has_publish_permission


def _validity(grant: ApiKey | SharedLink, owner: User, *, forever: bool = True) -> str:
    """Return how long it is valid; `forever`: one without an end is."""
    if not owner.is_active:
        return str(_("the person is disabled"))
    if not grant.expires:
        return str(_("valid") if forever else _("expired"))
    words = _("expired on %(when)s") if grant.has_expired else _("valid until %(when)s")
    return words % {"when": in_words(grant.expires)}
