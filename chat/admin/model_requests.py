"""The columns that the lists of runs and of API calls share: time, user, usage, error and gateway."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.formats import grouped_number
from chat.model_catalog import config
from chat.models import Call, Run

from .formats import moment
from .readonly import ReadOnlyListAdmin

LOG = "https://dash.cloudflare.com/%s/ai/ai-gateway/gateways/%s/logs/%s"


class ModelRequestAdmin(ReadOnlyListAdmin):
    @admin.display(description=_("created"), ordering="created")
    def begun(self, obj: Run | Call) -> str:
        return moment(obj.created)

    @admin.display(description=_("person"), ordering="user__username")
    def person(self, obj: Run | Call) -> SafeString:
        return format_html("<bdi>{}</bdi>", obj.user.get_username())

    @admin.display(description=_("error"), ordering="error_code")
    def error(self, obj: Run | Call) -> str:
        return obj.error_code or "–"

    @admin.display(description=_("tokens in / out"), ordering="completion_tokens")
    def tokens(self, obj: Run | Call) -> str:
        if obj.completion_tokens is None:
            return "–"
        return f"{grouped_number(obj.prompt_tokens or 0)} / {grouped_number(obj.completion_tokens)}"

    @admin.display(description=_("seconds"))
    def took(self, obj: Run | Call) -> str:
        return "–" if obj.seconds is None else number_format(obj.seconds, 1)

    @admin.display(description=_("gateway"))
    def passage(self, obj: Run | Call) -> str:
        """The gateway's part in the reply: cache, fallback, and the model that answered; else its name."""
        said = [gettext("cached")] if obj.gateway_cached else []
        if obj.gateway_step:
            said.append(gettext("fallback %(n)s") % {"n": obj.gateway_step})
        if obj.served_by:
            said.append(obj.served_by)
        return ", ".join(said) or obj.gateway or "–"

    @admin.display(description=_("gateway"))
    def entry(self, obj: Run | Call) -> str | SafeString:
        """`passage` as a link to the entry in Cloudflare's log, for administrators, who have the account."""
        if not obj.gateway_log:
            return self.passage(obj)
        parts = (settings.CLOUDFLARE_ACCOUNT_ID, obj.gateway, obj.gateway_log)
        return format_html('<a href="{}" rel="noreferrer">{}</a>', LOG % parts, self.passage(obj))

    def get_list_display(self, request: HttpRequest) -> Any:
        """Add a gateway column if the site has one: with the link to the account for administrators only."""
        if not config.gateway_name():
            return self.list_display
        through = "entry" if request.user.is_superuser else "passage"
        return [*self.list_display[:-1], through, self.list_display[-1]]
