"""The access log: which staff members read whose conversations."""

from functools import reduce
from operator import or_
from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from chat.models import ConversationAccess, ConversationAccessOwner

from .base import ReadOnlyListAdmin
from .changelist import terms_of
from .columns import time_column
from .keyset import KeysetChangeList

MAX_NAMED_OWNERS = 5  # owners that a row of the log names, of those whose conversations a list showed


class DateFilter(admin.DateFieldListFilter):
    """Django's filter with a readable title, instead of the column's name `at`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("date")


@admin.register(ConversationAccess)
class ConversationAccessAdmin(ReadOnlyListAdmin):
    title = _("Who read what")
    list_display = ["at_", "reader", "owners_", "conversation_", "address"]
    ordering = ["-at"]
    sortable_by = ["at_"]
    list_filter = [("at", DateFilter), "kind"]
    search_fields = ["reader"]  # makes Django show the search box
    search_help_text = _("Reader, owner, title or search words")
    changelist = KeysetChangeList
    at_ = time_column("at", _("when"))

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).prefetch_related("owners")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        """Return the entries with each term. Django would join the owners, and sort all matches as DISTINCT.

        So they are read in the order of the list until a page is full.
        """
        for term in terms_of(search_term):
            owners = ConversationAccessOwner.objects.filter(access=OuterRef("pk"), owner__icontains=term)
            own = (Q(**{f"{name}__icontains": term}) for name in ("reader", "owner", "title", "words"))
            queryset = queryset.filter(reduce(or_, own, Q(Exists(owners))))
        return queryset, False

    @admin.display(description=_("owner"))
    def owners_(self, obj: ConversationAccess) -> SafeString:
        """The conversation's owner; for a list, the first owners by name and the number of the others."""
        owners = sorted(each.owner for each in obj.owners.all()) or [obj.owner]
        named = format_html_join(", ", "<bdi>{}</bdi>", ((name,) for name in owners[:MAX_NAMED_OWNERS]))
        more = len(owners) - MAX_NAMED_OWNERS
        if more <= 0:
            return named
        words = ngettext("{named} and {more} more", "{named} and {more} more", more)
        return format_html(words, named=named, more=more)

    @admin.display(description=_("chat"), ordering="title")
    def conversation_(self, obj: ConversationAccess) -> str:
        """The conversation or the list that was read. The link's target checks the right to follow it."""
        if obj.kind == ConversationAccess.Kind.LIST:
            if not obj.words:
                return gettext("The list of chats")
            return format_html(gettext("Search for “{words}”"), words=format_html("<bdi>{}</bdi>", obj.words))
        address = reverse("admin:chat_conversation_change", args=[obj.conversation])
        return format_html('<a href="{}"><bdi>{}</bdi></a>', address, obj.title)
