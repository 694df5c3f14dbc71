"""All users' conversations, for staff with the right to review them."""

import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from chat.accounts.access_log import record, record_list
from chat.catalog.catalog import model_name
from chat.db.executor import write_lock
from chat.formats import grouped_number
from chat.models import Conversation, Run, SearchBuild

from . import transcript
from .base import ReadOnlyAdmin, has_nul
from .changelist import ConversationChangeList, OrderOnlyChangeList, matching, terms_of
from .columns import day, model_column, time_column
from .filters import DeletedFilter, ModelFilter, OwnerFilter, StateFilter, ThumbsFilter

CONVERSATION_LIST_URL = "admin:chat_conversation_changelist"
INCOMPLETE = _("Older chats are still being indexed, so the search does not find all of them.")
FILTERS = "_changelist_filters"  # Django's parameter, in links from a list, that preserves the list's filters


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    """The list and the transcripts. Titles and search results reveal content, so each view is recorded."""

    list_display = [
        "title_", "user_", "model_name", "messages", "tokens", "state", "thumbs", "updated_"
    ]  # fmt: skip
    list_filter = [StateFilter, ThumbsFilter, "updated", ModelFilter, OwnerFilter, DeletedFilter]
    list_select_related = ["user"]
    ordering = ["-updated"]
    sortable_by = ["model_name", "updated_"]
    search_fields = ["title"]  # makes Django show the search box; `matching` does the search
    search_help_text = _('Title, name, email or words of the text. Put "exact phrases" in quotes.')
    model_name = model_column
    updated_ = time_column("updated", _("updated"))

    @admin.display(description=_("title"), ordering="title")
    def title_(self, obj: Any) -> SafeString:
        """The title, after marks: deleted by its owner and when, temporary, archived, shared by a link."""
        title = format_html('<span dir="auto" title="{}"><bdi>{}</bdi></span>', obj.title, obj.title)
        marks = format_html_join("", '<span class="{}">{}</span> ', _marks(obj))
        return format_html("{}{}", marks, title)

    @admin.display(description=_("person"), ordering="user__username")
    def user_(self, obj: Any) -> SafeString:
        return format_html('<a href="?owner={}"><bdi>{}</bdi></a>', obj.user_id, obj.user.username)

    @admin.display(description=_("messages"))
    def messages(self, obj: Any) -> int:
        return obj.stats.messages

    @admin.display(description=_("tokens in / out"))
    def tokens(self, obj: Any) -> str:
        return f"{grouped_number(obj.stats.prompt_tokens)} / {grouped_number(obj.stats.completion_tokens)}"

    @admin.display(description=_("last reply"))
    def state(self, obj: Any) -> str:
        return str(Run.Status(obj.stats.state).label) if obj.stats.state else "–"

    @admin.display(description=_("thumbs"))
    def thumbs(self, obj: Any) -> str:
        given = [(obj.stats.up, _("up")), (obj.stats.down, _("down"))]
        return ", ".join(f"{number} {word}" for number, word in given if number) or "–"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        """Return the class for the list; for a transcript, the one that only finds its neighbours."""
        match = request.resolver_match
        return (
            ConversationChangeList
            if match and f"admin:{match.url_name}" == CONVERSATION_LIST_URL
            else OrderOnlyChangeList
        )

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Return the list. It is rendered only after the conversations that it shows were recorded."""
        response = super().changelist_view(request, extra_context)
        if (found := (getattr(response, "context_data", None) or {}).get("cl")) is not None:
            record_list(request, terms_of(found.query), found.result_list)
            if found.query and SearchBuild.objects.is_running():
                self.message_user(request, INCOMPLETE, messages.WARNING)
        return response

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        """Return True for the filters' columns only: lookups by others would be searches without a record."""
        names = {getattr(each, "parameter_name", each) for each in self.list_filter}
        return lookup.partition("__")[0] in names

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        return matching(queryset, search_term), False

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Return the transcript, and record the access: this is the only GET that writes.

        The record is written in the transaction that reads the transcript, so nothing is shown without a
        record. Without the right to review, the response is 403 for existing and missing conversations alike.
        """
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            key, leaf, before = uuid.UUID(object_id), _message(request, "leaf"), _message(request, "before")
            with write_lock(), transaction.atomic():
                found = Conversation.objects.select_related("user").get(pk=key)
                shown = transcript.read(found, leaf, before)
                record(request, found)
        except (ValueError, LookupError, Conversation.DoesNotExist):
            raise Http404 from None
        context = self._navigation(request, key) | {
            "conversation": found,
            "model": model_name(found.model),
            "transcript": shown.rendered_for(request.user.pk or 0),
            "leaf": leaf,
        }
        response = TemplateResponse(request, "admin/chat/conversation/transcript.html", context)
        response.trusted_types = True  # type: ignore[attr-defined]
        return response

    def _navigation(self, request: HttpRequest, key: uuid.UUID) -> dict[str, Any]:
        """Return the context for the links to the filtered list, and to the neighbours in it."""
        filters = request.GET.get(FILTERS, "")
        kept = urlencode({FILTERS: filters}) if filters else ""
        previous, following = self._neighbours(request, filters, key)
        return {
            "kept": kept,
            "list_url": reverse(CONVERSATION_LIST_URL) + (f"?{filters}" if filters else ""),
            "previous": previous,
            "next": following,
        }

    def _neighbours(
        self, request: HttpRequest, filters: str, key: uuid.UUID
    ) -> tuple[uuid.UUID | None, uuid.UUID | None]:
        original, request.GET = request.GET, QueryDict(filters)
        try:
            if has_nul(request.GET):
                return None, None
            order: Any = self.get_changelist_instance(request)
            keys = order.neighbours(key)
        except (IncorrectLookupParameters, SuspiciousOperation):
            return None, None
        finally:
            request.GET = original
        if filters:  # a link to a search result reveals that it matches
            found = Conversation.objects.select_related("user").filter(pk__in=[each for each in keys if each])
            record_list(request, terms_of(order.query), found)
        return keys


def _marks(conversation: Any) -> Iterator[tuple[str, str]]:
    """Yield (class, words) of each mark."""
    if conversation.deleted is not None:
        yield "removed", format_html(gettext("Deleted {day}"), day=day(conversation.deleted))
    if conversation.temporary:
        yield "mark", gettext("Temporary")
    if conversation.archived_at is not None:
        yield "mark", pgettext("mark of a chat", "Archived")
    if conversation.stats.shared:
        yield "mark", gettext("Shared")


def _message(request: HttpRequest, name: str) -> uuid.UUID | None:
    key = request.GET.get(name)
    return uuid.UUID(key) if key else None
