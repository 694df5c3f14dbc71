"""Every attempt at a reply: how it ended, what it used, who wrote it. What was said is in the transcript."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from chat.models import Run

from .filters import ErrorFilter
from .log import LogAdmin
from .moments import grouped, moment


@admin.register(Run)
class RunAdmin(LogAdmin):
    list_display = [
        "begun", "person", "model", "status", "error", "request_id", "tokens", "took", "worker", "reply"
    ]  # fmt: skip
    list_display_links = None
    list_filter = ["status", "created", "model", ("error_code", ErrorFilter)]
    list_select_related = ["user", "worker"]
    ordering = ["-created"]
    search_fields = ["user__username", "request_id", "error_message"]
    search_help_text = _("People by name, request ids, error messages")

    @admin.display(description=_("created"), ordering="created")
    def begun(self, obj: Run) -> str:
        return moment(obj.created)

    @admin.display(description=_("person"), ordering="user__username")
    def person(self, obj: Run) -> SafeString:
        return format_html("<bdi>{}</bdi>", obj.user.get_username())

    @admin.display(description=_("error"), ordering="error_code")
    def error(self, obj: Run) -> str:
        return obj.error_code or "–"

    @admin.display(description=_("tokens in / out"), ordering="completion_tokens")
    def tokens(self, obj: Run) -> str:
        if obj.completion_tokens is None:
            return "–"
        return f"{grouped(obj.prompt_tokens or 0)} / {grouped(obj.completion_tokens)}"

    @admin.display(description=_("seconds"))
    def took(self, obj: Run) -> str:
        return "–" if obj.seconds is None else number_format(obj.seconds, 1)

    @admin.display(description=_("transcript"))
    def reply(self, obj: Run) -> SafeString:
        """Straight to the message. Whether somebody may read it, that page asks."""
        address = reverse("admin:chat_conversation_change", args=[obj.conversation_id])
        link = '<a href="{}?leaf={}#m-{}">{}</a>'
        return format_html(link, address, obj.message_id, obj.message_id, _("Open"))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """The list says it all."""
        return obj is None and super().has_view_permission(request)
