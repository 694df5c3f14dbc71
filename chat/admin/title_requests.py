"""The list of title requests: person, outcome and usage, without the title."""

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from chat.models import TitleRequest

from .model_requests import ModelRequestAdmin


@admin.register(TitleRequest)
class TitleRequestAdmin(ModelRequestAdmin):
    list_display = [
        "created_", "user_", "model", "status", "error", "request_id", "tokens", "neurons_", "duration",
        "transcript_link",
    ]  # fmt: skip
    list_select_related = ["user"]

    @admin.display(description=_("transcript"))
    def transcript_link(self, obj: TitleRequest) -> SafeString:
        """A link to the conversation. Its target checks the right to read it."""
        address = reverse("admin:chat_conversation_change", args=[obj.conversation_id])
        return format_html('<a href="{}">{}</a>', address, _("Open"))
