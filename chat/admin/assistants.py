"""All assistants: whose they are, and who published them to whom.

Their instructions are content that the owner may have written for no one else, so they stand in no list.
"""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat.library import assistants
from chat.library.publication import permission
from chat.models import Assistant

from .formats import moment
from .readonly import ActionListAdmin


@admin.register(Assistant)
class AssistantAdmin(ActionListAdmin):
    """A list for staff who may publish assistants. They can end the publication of each."""

    list_display = ("name", "owner_", "published_to", "published_by_", "created_")
    list_select_related = ("current", "owner", "published_by")
    list_filter = ("everybody", "created")
    search_fields = ("current__name", "owner__username")
    actions = ("withdraw",)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        """Return the assistants that are not deleted, with their groups."""
        return super().get_queryset(request).filter(deleted=None).prefetch_related("groups")

    @admin.display(description=_("name"), ordering="current__name")
    def name(self, obj: Assistant) -> SafeString | str:
        """Return the name of a published one; that of a private one is nobody else's business."""
        is_published = obj.everybody or obj.groups.all()
        return format_html("<bdi>{}</bdi>", obj.current) if is_published else str(_("private"))

    @admin.display(description=_("person"), ordering="owner__username")
    def owner_(self, obj: Assistant) -> SafeString | str:
        return format_html("<bdi>{}</bdi>", obj.owner.get_username()) if obj.owner else ""

    @admin.display(description=_("published to"))
    def published_to(self, obj: Assistant) -> str:
        if obj.everybody:
            return str(_("everybody"))
        return ", ".join(group.name for group in obj.groups.all())

    @admin.display(description=_("published by"), ordering="published_by__username")
    def published_by_(self, obj: Assistant) -> SafeString | str:
        return format_html("<bdi>{}</bdi>", obj.published_by.get_username()) if obj.published_by else ""

    @admin.display(description=_("created"), ordering="created")
    def created_(self, obj: Assistant) -> str:
        return moment(obj.created)

    @admin.action(description=_("End the publication of the selected assistants"), permissions=["publish"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet) -> None:
        """End the publications. Conversations that began with the assistants go on."""
        found = list(queryset)
        ended = assistants.withdraw([assistant.pk for assistant in found])
        for assistant in found:
            self.log_change(request, assistant, "Publication ended.")
        words = ngettext("%(number)d publication was ended.", "%(number)d publications were ended.", ended)
        messages.success(request, words % {"number": ended})

    def has_publish_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(permission(Assistant))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_publish_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return True for staff who may publish assistants, and for the list only."""
        return obj is None and self.has_publish_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return True for the list only, for its actions."""
        return obj is None and self.has_publish_permission(request)
