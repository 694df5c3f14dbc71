"""The list of API calls: user, key, outcome and usage, without any text."""

from django.contrib import admin
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from chat.models import Call

from .filters import ErrorFilter
from .model_requests import ModelRequestAdmin


@admin.register(Call)
class CallAdmin(ModelRequestAdmin):
    list_display = [
        "begun", "person", "key", "model", "dialect", "status", "error", "request_id", "tokens", "used",
        "took", "conversation",
    ]  # fmt: skip
    list_display_links = None
    list_filter = ["status", "created", "dialect", "model", ("error_code", ErrorFilter)]
    list_select_related = ["user", "key", "run"]
    ordering = ["-created"]
    search_fields = ["user__username", "key__name", "key__shown", "request_id", "error_message"]
    search_help_text = _("People by name, keys, request ids, error messages")

    @admin.display(description=_("neurons"), ordering="neurons")
    def used(self, obj: Call) -> str:
        return "–" if obj.neurons is None else number_format(obj.neurons, 1)

    @admin.display(description=_("transcript"))
    def conversation(self, obj: Call) -> SafeString | str:
        """A link to the conversation, if the key stores them. Its target checks the right to read it."""
        if obj.run is None:
            return "–"
        address = reverse("admin:chat_conversation_change", args=[obj.run.conversation_id])
        return format_html('<a href="{}">{}</a>', address, _("Open"))
