"""The list of API calls: user, key, outcome and usage, without any text."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from chat.models import ApiKey, Call

from .filters import DistinctFilter, ErrorFilter
from .model_requests import MAX_MATCHES, MAX_PEOPLE_OF_REQUESTS, ModelRequestAdmin


@admin.register(Call)
class CallAdmin(ModelRequestAdmin):
    list_display = [
        "created_", "user_", "key", "model", "dialect", "status", "error", "request_id", "tokens", "neurons_",
        "duration", "transcript_link",
    ]  # fmt: skip
    list_filter = [
        "status", "created", "dialect", ("model", DistinctFilter), ("error_code", ErrorFilter)
    ]  # fmt: skip
    sortable_by = ["created_", "model", "dialect", "status"]
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
        """A link to the conversation, if the key stores them. Its target checks the right to read it."""
        if obj.run is None:
            return "–"
        address = reverse("admin:chat_conversation_change", args=[obj.run.conversation_id])
        return format_html('<a href="{}">{}</a>', address, _("Open"))
