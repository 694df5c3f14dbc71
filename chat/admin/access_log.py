"""The access log: which staff members read whose conversations."""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from chat.backends import client_address
from chat.db import write_lock
from chat.models import Conversation, ConversationAccess, ConversationAccessOwner

from .changelist import terms_of
from .formats import moment
from .keyset import KeysetChangeList
from .readonly import ReadOnlyListAdmin

REPEATED_WITHIN = timedelta(minutes=10)  # within which a list that shows the same is not recorded again
MAX_NAMED_OWNERS = 5  # owners that a row of the log names, of those whose conversations a list showed


class DateFilter(admin.DateFieldListFilter):
    """Django's filter with a readable title, instead of the column's name `at`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("date")


@admin.register(ConversationAccess)
class ConversationAccessAdmin(ReadOnlyListAdmin):
    list_display = ["at_", "reader", "owners_", "conversation_", "address"]
    list_display_links = None
    ordering = ["-at"]
    sortable_by = ["at_"]
    list_filter = [("at", DateFilter), "kind"]
    search_fields = ["reader"]  # makes Django show the search box
    search_help_text = _("Reader, owner, title or search words")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return KeysetChangeList

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

    @admin.display(description=_("when"), ordering="at")
    def at_(self, obj: ConversationAccess) -> str:
        return moment(obj.at)

    @admin.display(description=_("conversation"), ordering="title")
    def conversation_(self, obj: ConversationAccess) -> str:
        """The conversation or the list that was read. The link's target checks the right to follow it."""
        if obj.kind == ConversationAccess.Kind.LIST:
            if not obj.words:
                return gettext("The list of conversations")
            return format_html(gettext("Search for “{words}”"), words=format_html("<bdi>{}</bdi>", obj.words))
        address = reverse("admin:chat_conversation_change", args=[obj.conversation])
        return format_html('<a href="{}"><bdi>{}</bdi></a>', address, obj.title)


def record_list(request: HttpRequest, terms: Sequence[str], conversations: Iterable[Conversation]) -> None:
    """Record that a staff member saw these conversations of others, found by `terms`: one entry per page.

    A search is recorded even if it found none. Nothing is recorded if the same search showed the reader all
    of them within `REPEATED_WITHIN`. This covers the return from a conversation to the list, and the links to
    the conversations before and after it.
    """
    shown: dict[int, ConversationAccessOwner] = {}
    reader: Any = request.user
    for each in conversations:
        if each.user_id != reader.pk:
            new = ConversationAccessOwner(owner_key=each.user_id, owner=each.user.get_username())
            shown.setdefault(each.user_id, new).conversations.append(str(each.pk))
    entry = ConversationAccess(
        kind=ConversationAccess.Kind.LIST,
        reader_key=reader.pk,
        reader=reader.get_username(),
        words=" ".join(terms),
        address=client_address(request),
    )
    if (shown or terms) and not _repeats(entry, list(shown.values())):
        with write_lock(), transaction.atomic():
            entry.save(force_insert=True)
            for owner in shown.values():
                owner.access = entry
            ConversationAccessOwner.objects.bulk_create(shown.values())


def _repeats(entry: ConversationAccess, shown: Collection[ConversationAccessOwner]) -> bool:
    """Return True if the reader's lists with the same words showed all of it within `REPEATED_WITHIN`."""
    same = ConversationAccess.objects.filter(
        at__gte=entry.at - REPEATED_WITHIN, kind=entry.kind, reader_key=entry.reader_key
    )
    lists = same.filter(words=entry.words, address=entry.address).values("pk")
    if not shown:
        return lists.exists()
    before: set[str] = set()
    for keys in ConversationAccessOwner.objects.filter(access__in=lists).values_list(
        "conversations", flat=True
    ):
        before.update(keys)
    return all(before.issuperset(owner.conversations) for owner in shown)


def record_once(request: HttpRequest, conversation: Conversation) -> None:
    """Record that a staff member sees a picture of the conversation.

    Nothing is recorded if they read the conversation within `REPEATED_WITHIN`: a transcript with
    pictures is one entry, and so is a picture that is opened from elsewhere.
    """
    reader: Any = request.user
    entries = ConversationAccess.objects.filter(
        at__gte=timezone.now() - REPEATED_WITHIN, reader_key=reader.pk
    )
    read = entries.filter(owner_key=conversation.user_id, conversation=conversation.pk)
    with write_lock(), transaction.atomic():
        if not read.filter(address=client_address(request)).exists():
            record(request, conversation)


def record(request: HttpRequest, conversation: Conversation) -> None:
    """Record that a staff member reads another user's conversation. Their own are not recorded."""
    reader: Any = request.user
    if reader.pk == conversation.user_id:
        return
    ConversationAccess.objects.create(
        reader_key=reader.pk,
        reader=reader.get_username(),
        owner_key=conversation.user_id,
        owner=conversation.user.get_username(),
        conversation=conversation.pk,
        title=conversation.title,
        address=client_address(request),
    )
