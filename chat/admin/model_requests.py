"""The lists of requests to models (runs, API calls and titles): outcome and usage, without any text.

The text of a run is in the conversation's transcript, whose page checks the right to read it.
"""

import uuid
from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.catalog import config
from chat.formats import decimal_number, grouped_number, written_cost
from chat.models import ApiKey, Call, Run, TitleRequest, User

from .base import ReadOnlyListAdmin, only_read
from .changelist import terms_of
from .columns import model_column, person_column, time_column
from .filters import ErrorFilter, ModelFilter, with_error
from .keyset import KeysetChangeList
from .model_stats import PERIODS, USAGE_PERMISSIONS, people_since, rates, start_of, usage_since

MAX_PEOPLE_OF_REQUESTS = 20  # whose rows a search finds by their names
MAX_MATCHES = 200  # rows that a search finds by another column
MAX_ERRORS = 5_000  # rows with an error, the newest, whose messages a search reads
GATEWAY_LOG_URL = "https://dash.cloudflare.com/%s/ai/ai-gateway/gateways/%s/logs/%s"

UserRequest = Run | Call | TitleRequest


class ModelRequestAdmin(ReadOnlyListAdmin):
    list_filter = ["status", "created", ModelFilter, ("error_code", ErrorFilter)]
    ordering = ["-created"]
    sortable_by = ["created_", "model_name", "status"]
    search_fields = ["user__username", "request_id", "error_message"]
    search_help_text = _("Name, request ID or error message")
    changelist = KeysetChangeList
    created_ = time_column("created", _("created"))
    user_ = person_column("user", _("person"))
    model_name = model_column

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        for term in terms_of(search_term):
            queryset = self.matching(queryset, term)
        return queryset, False

    def matching(self, rows: QuerySet, term: str) -> QuerySet:
        """Return the rows with this request id, of people with such a name, or with such an error message.

        The numbers of people and of errors that it looks at are bounded, so it costs the same on any site.
        """
        people = User.objects.filter(username__icontains=term).order_by("username")
        users = list(people.values_list("pk", flat=True)[:MAX_PEOPLE_OF_REQUESTS])
        every = self.model._default_manager.all()
        keys = set(every.filter(request_id=term).values_list("pk", flat=True)[:MAX_MATCHES])
        recent = with_error(every).order_by("-created").values_list("pk", "error_message")[:MAX_ERRORS]
        wanted = term.casefold()
        keys.update([key for key, words in recent if wanted in words.casefold()][:MAX_MATCHES])
        keys.update(self.other_matches(term))
        if not keys:
            return rows.filter(user__in=users)
        return rows.filter(Q(pk__in=keys) | Q(user__in=users)) if users else rows.filter(pk__in=keys)

    def other_matches(self, term: str) -> Iterable[Any]:
        """Return the keys of rows that match by a column that only this list has."""
        return ()

    @admin.display(description=_("error"), ordering="error_code")
    def error(self, obj: UserRequest) -> str:
        return obj.error_code or "–"

    @admin.display(description=_("tokens in / out"), ordering="completion_tokens")
    def tokens(self, obj: UserRequest) -> str:
        if obj.completion_tokens is None:
            return "–"
        return f"{grouped_number(obj.prompt_tokens or 0)} / {grouped_number(obj.completion_tokens)}"

    @admin.display(description=_("neurons"), ordering="neurons")
    def neurons_(self, obj: UserRequest) -> str:
        return "–" if obj.neurons is None else decimal_number(obj.neurons, 1)

    @admin.display(description=_("seconds"))
    def duration(self, obj: UserRequest) -> str:
        return "–" if obj.seconds is None else decimal_number(obj.seconds, 1)

    @admin.display(description=_("gateway"))
    def gateway_summary(self, obj: UserRequest) -> str:
        """The role of the gateway: cache, fallback, or the model it chose; otherwise its name."""
        parts = [gettext("cached")] if obj.gateway_cached else []
        if obj.gateway_step:
            parts.append(gettext("fallback %(n)s") % {"n": obj.gateway_step})
        if obj.served_by:
            parts.append(obj.served_by)
        return ", ".join(parts) or obj.gateway or "–"

    @admin.display(description=_("gateway"))
    def gateway_link(self, obj: UserRequest) -> str | SafeString:
        """`gateway_summary` as a link into Cloudflare's log, for administrators, who have the account."""
        if not obj.gateway_log:
            return self.gateway_summary(obj)
        account = config.account()
        parts = (account.account_id if account else ":account", obj.gateway, obj.gateway_log)
        return format_html(
            '<a href="{}" rel="noreferrer">{}</a>', GATEWAY_LOG_URL % parts, self.gateway_summary(obj)
        )

    def get_list_display(self, request: HttpRequest) -> Any:
        """Add a gateway column if the site has one: with the link to the account for administrators only."""
        if not config.gateway_name():
            return self.list_display
        through = "gateway_link" if request.user.is_superuser else "gateway_summary"
        return [*self.list_display[:-1], through, self.list_display[-1]]

    @admin.display(description=_("transcript"))
    def transcript_link(self, obj: Any) -> SafeString | str:
        return _transcript(obj.conversation_id)


@admin.register(Run)
class RunAdmin(ModelRequestAdmin):
    list_display = [
        "created_", "user_", "model_name", "status", "error", "request_id", "tokens", "duration", "worker",
        "transcript_link",
    ]  # fmt: skip
    list_select_related = ["user", "worker"]

    @admin.display(description=_("transcript"))
    def transcript_link(self, obj: Run) -> SafeString:
        """A link to the message in the transcript."""
        return _transcript(obj.conversation_id, obj.message_id)

    def get_urls(self) -> list[URLPattern]:
        """Put the URL of the rates first, because Django's URL for a single run matches any name."""
        view = only_read(self.admin_site.admin_view(self.rates_view))
        return [path("rates/", view, name="chat_run_rates"), *super().get_urls()]

    def rates_view(self, request: HttpRequest) -> HttpResponseBase:
        """Return the page of rates and costs by model in a period, for users who may view runs.

        Costs are shown to those who may also view API calls and title requests, which are included.
        """
        if not self.has_view_permission(request):
            raise PermissionDenied
        wanted = request.GET.get("period", "")
        chosen = wanted if wanted in PERIODS else "day"
        may_see = request.user.has_perms(USAGE_PERMISSIONS)
        used = usage_since(start_of(chosen)) if may_see else []
        return self.page(
            request,
            "model_stats",
            _("Statistics"),
            periods=[(key, name, key == chosen) for key, (_length, name) in PERIODS.items()],
            rates=rates(start_of(chosen)),
            used=used,
            people=people_since(start_of(chosen)) if used else [],
            cost=written_cost(*(each.dollars for each in used)),
        )


@admin.register(Call)
class CallAdmin(ModelRequestAdmin):
    list_display = [
        "created_", "user_", "key", "model_name", "dialect", "status", "error", "request_id", "tokens",
        "neurons_", "duration", "transcript_link",
    ]  # fmt: skip
    list_filter = [
        "status", "created", "dialect", ModelFilter, ("error_code", ErrorFilter)
    ]  # fmt: skip
    sortable_by = ["created_", "model_name", "dialect", "status"]
    list_select_related = ["user", "key", "run"]
    search_fields = ["user__username", "key__name", "key__prefix", "request_id", "error_message"]
    search_help_text = _("Name, key, request ID or error message")

    def other_matches(self, term: str) -> Iterable[Any]:
        """Return the newest calls with keys of such a name or prefix."""
        named = ApiKey.objects.filter(Q(name__icontains=term) | Q(prefix__icontains=term))
        keys = list(named.values_list("pk", flat=True)[:MAX_PEOPLE_OF_REQUESTS])
        found = Call.objects.filter(key__in=keys).order_by("-created")
        return found.values_list("pk", flat=True)[:MAX_MATCHES] if keys else ()

    @admin.display(description=_("transcript"))
    def transcript_link(self, obj: Call) -> SafeString | str:
        """A link to the conversation, if the key stores them."""
        return "–" if obj.run is None else _transcript(obj.run.conversation_id)


@admin.register(TitleRequest)
class TitleRequestAdmin(ModelRequestAdmin):
    list_display = [
        "created_", "user_", "model_name", "status", "error", "request_id", "tokens", "neurons_", "duration",
        "transcript_link",
    ]  # fmt: skip
    list_select_related = ["user"]


def _transcript(conversation: uuid.UUID, message: uuid.UUID | None = None) -> SafeString:
    """Return a link to a conversation, or to a message in it. Its target checks the right to read it."""
    place = f"?leaf={message}#m-{message}" if message else ""
    address = reverse("admin:chat_conversation_change", args=[conversation])
    return format_html('<a href="{}{}">{}</a>', address, place, _("Open"))
