"""All shared links: which person shares which conversation, and until when.

The titles are content, so they stand only in the transcript, whose readings are recorded.
"""

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.db import connection
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat.db.executor import write_lock
from chat.models import SharedLink, User

from .changelist import MAX_PEOPLE_OF_CONVERSATIONS, terms_of
from .formats import in_words, moment
from .keyset import KeysetChangeList
from .readonly import ActionListAdmin


@admin.register(SharedLink)
class SharedLinkAdmin(ActionListAdmin):
    """A list for reviewers. Staff with the right to change links can revoke them."""

    list_display = ("user_", "conversation_", "shows_name", "state", "created_")
    list_select_related = ("leaf__conversation__user",)
    list_filter = ("shows_name", "created")
    search_fields = ("leaf__conversation__user__username",)  # makes Django show the search box
    sortable_by = ("created_",)
    actions = ("revoke",)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return KeysetChangeList

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

    @admin.display(description=_("person"), ordering="leaf__conversation__user__username")
    def user_(self, obj: SharedLink) -> SafeString:
        return format_html("<bdi>{}</bdi>", obj.leaf.conversation.user.get_username())

    @admin.display(description=_("conversation"))
    def conversation_(self, obj: SharedLink) -> SafeString:
        """A link to the branch that is shared."""
        page = reverse("admin:chat_conversation_change", args=[obj.leaf.conversation_id])
        return format_html('<a href="{}?leaf={}">{}</a>', page, obj.leaf_id, _("Read"))

    @admin.display(description=_("state"))
    def state(self, obj: SharedLink) -> str:
        if settings.SHARING == "off":
            return str(_("sharing is turned off"))
        if not obj.leaf.conversation.user.is_active:
            return str(_("the person is disabled"))
        if not obj.expires:
            return str(_("valid") if settings.SHARING == "permanent" else _("expired"))
        words = _("expired on %(when)s") if obj.has_expired else _("valid until %(when)s")
        return words % {"when": in_words(obj.expires)}

    @admin.display(description=_("created"), ordering="created")
    def created_(self, obj: SharedLink) -> str:
        return moment(obj.created)

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
