"""The list of runs: outcome, usage and worker. The text is in the conversation's transcript."""

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from chat.models import Run

from .filters import ErrorFilter
from .model_requests import ModelRequestAdmin
from .model_stats import PERIODS, rates
from .readonly import only_read


@admin.register(Run)
class RunAdmin(ModelRequestAdmin):
    list_display = [
        "begun", "person", "model", "status", "error", "request_id", "tokens", "took", "worker", "reply"
    ]  # fmt: skip
    list_display_links = None
    list_filter = ["status", "created", "model", ("error_code", ErrorFilter)]
    list_select_related = ["user", "worker"]
    ordering = ["-created"]
    search_fields = ["user__username", "request_id", "error_message"]
    search_help_text = _("People by name, request ids, error messages")

    @admin.display(description=_("transcript"))
    def reply(self, obj: Run) -> SafeString:
        """A link to the message in the transcript, which checks the right to read it."""
        address = reverse("admin:chat_conversation_change", args=[obj.conversation_id])
        link = '<a href="{}?leaf={}#m-{}">{}</a>'
        return format_html(link, address, obj.message_id, obj.message_id, _("Open"))

    def get_urls(self) -> list[URLPattern]:
        """Put the URL of the rates first, because Django's URL for a single run matches any name."""
        view = only_read(self.admin_site.admin_view(self.rates_view))
        return [path("rates/", view, name="chat_run_rates"), *super().get_urls()]

    def rates_view(self, request: HttpRequest) -> HttpResponseBase:
        """Return the page of rates by model in a period, for users who may view runs."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        wanted = request.GET.get("period", "")
        chosen = wanted if wanted in PERIODS else "day"
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Rates by model"),
            "periods": [(key, name, key == chosen) for key, (_length, name) in PERIODS.items()],
            "rates": rates(timezone.now() - PERIODS[chosen][0]),
        }
        return TemplateResponse(request, "admin/chat/run/rates.html", context)
