"""Who of the staff looked into whose conversations."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from chat.backends import client_address
from chat.db import write_lock
from chat.models import Conversation, Reading, ReadingOwner

from .formats import moment
from .readonly import ReadOnlyListAdmin

REPEATED = timedelta(minutes=10)
NAMED = 5  # owners of a list that are named in the record's own list


class DateFilter(admin.DateFieldListFilter):
    """Under a name that people read: the column's own is `at`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("date")


@admin.register(Reading)
class ReadingAdmin(ReadOnlyListAdmin):
    list_display = ["when", "reader", "whose", "read", "address"]
    list_display_links = None
    list_filter = [("at", DateFilter), "kind"]
    search_fields = ["reader", "owner", "title", "words", "owners__owner"]
    search_help_text = _("Who read, whose conversation, its title, what was searched for")

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).prefetch_related("owners")

    @admin.display(description=_("owner"))
    def whose(self, obj: Reading) -> SafeString:
        """Of a list the first ones by name, and how many more."""
        owners = sorted(each.owner for each in obj.owners.all()) or [obj.owner]
        named = format_html_join(", ", "<bdi>{}</bdi>", ((name,) for name in owners[:NAMED]))
        more = len(owners) - NAMED
        if more <= 0:
            return named
        words = ngettext("{named} and {more} more", "{named} and {more} more", more)
        return format_html(words, named=named, more=more)

    @admin.display(description=_("when"), ordering="at")
    def when(self, obj: Reading) -> str:
        return moment(obj.at)

    @admin.display(description=_("conversation"), ordering="title")
    def read(self, obj: Reading) -> str:
        """A link for whoever may follow it is a link for everybody: the page behind it asks for the right."""
        if obj.kind == Reading.Kind.LIST:
            if not obj.words:
                return gettext("The list of conversations")
            return format_html(gettext("Search for “{words}”"), words=format_html("<bdi>{}</bdi>", obj.words))
        address = reverse("admin:chat_conversation_change", args=[obj.conversation])
        return format_html('<a href="{}"><bdi>{}</bdi></a>', address, obj.title)


def record_list(request: HttpRequest, terms: Sequence[str], conversations: Iterable[Conversation]) -> None:
    """That somebody sees conversations of others, found by these terms: one entry for a page of the list.

    What this reader was shown by the same search within a few minutes needs no other entry, such as the list
    after a look at one of its conversations, and what stands before and after that one.
    """
    shown: dict[int, ReadingOwner] = {}
    reader: Any = request.user
    for each in conversations:
        if each.user_id != reader.pk:
            new = ReadingOwner(owner_key=each.user_id, owner=each.user.get_username())
            shown.setdefault(each.user_id, new).conversations.append(str(each.pk))
    entry = Reading(
        kind=Reading.Kind.LIST,
        reader_key=reader.pk,
        reader=reader.get_username(),
        words=" ".join(terms),
        address=client_address(request),
    )
    if shown and not _repeats(entry, shown.values()):
        with write_lock(), transaction.atomic():
            entry.save(force_insert=True)
            for owner in shown.values():
                owner.reading = entry
            ReadingOwner.objects.bulk_create(shown.values())


def _repeats(entry: Reading, shown: Iterable[ReadingOwner]) -> bool:
    """Whether the reader's lists of these words showed all of it, a few minutes ago at the most."""
    same = Reading.objects.filter(at__gte=entry.at - REPEATED, kind=entry.kind, reader_key=entry.reader_key)
    lists = same.filter(words=entry.words, address=entry.address).values("pk")
    before: set[str] = set()
    for keys in ReadingOwner.objects.filter(reading__in=lists).values_list("conversations", flat=True):
        before.update(keys)
    return all(before.issuperset(owner.conversations) for owner in shown)


def record(request: HttpRequest, conversation: Conversation) -> None:
    """That somebody reads what another person wrote. One's own is nobody's business."""
    reader: Any = request.user
    if reader.pk == conversation.user_id:
        return
    Reading.objects.create(
        reader_key=reader.pk,
        reader=reader.get_username(),
        owner_key=conversation.user_id,
        owner=conversation.user.get_username(),
        conversation=conversation.pk,
        title=conversation.title,
        address=client_address(request),
    )
