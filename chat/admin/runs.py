"""The list of runs: outcome, usage and worker. The text is in the conversation's transcript."""

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from chat.models import Run

from .model_requests import ModelRequestAdmin
from .model_stats import PERIODS, rates, start_of
from .model_usage import USAGE_PERMISSIONS, total_cost, usage_since
from .readonly import only_read


@admin.register(Run)
class RunAdmin(ModelRequestAdmin):
    list_display = [
        "created_", "user_", "model", "status", "error", "request_id", "tokens", "duration", "worker",
        "transcript_link",
    ]  # fmt: skip
    list_select_related = ["user", "worker"]

    @admin.display(description=_("transcript"))
    def transcript_link(self, obj: Run) -> SafeString:
        """A link to the message in the transcript, which checks the right to read it."""
        address = reverse("admin:chat_conversation_change", args=[obj.conversation_id])
        link = '<a href="{}?leaf={}#m-{}">{}</a>'
        return format_html(link, address, obj.message_id, obj.message_id, _("Open"))

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
        used = usage_since(start_of(chosen)) if request.user.has_perms(USAGE_PERMISSIONS) else []
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Statistics by model"),
            "periods": [(key, name, key == chosen) for key, (_length, name) in PERIODS.items()],
            "rates": rates(start_of(chosen)),
            "used": used,
            "cost": total_cost(used),
        }
        return TemplateResponse(request, "admin/chat/run/model_stats.html", context)
