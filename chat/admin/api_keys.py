"""All users' API keys, with owner and scopes. Secrets cannot be shown, because they are not stored."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat.models import ApiKey

from .formats import in_words, moment
from .readonly import ActionListAdmin
from .rights import ConfirmedForm


@admin.register(ApiKey)
class ApiKeyAdmin(ActionListAdmin):
    """A list without pages for single keys.

    Staff with the right to change keys can revoke them; administrators can also let them set the AI Gateway.
    """

    list_display = (
        "name",
        "prefix_",
        "user_",
        "scopes",
        "keeps_conversations",
        "state",
        "last_used_",
        "created_",
    )
    list_select_related = ("user",)
    list_filter = ("keeps_conversations", "created")
    search_fields = ("name", "prefix", "user__username")
    actions = ("revoke", "allow_gateway", "forbid_gateway")

    @admin.display(description=_("begins with"), ordering="prefix")
    def prefix_(self, obj: ApiKey) -> SafeString:
        return format_html("<code>{}…</code>", obj.prefix)

    @admin.display(description=_("person"), ordering="user__username")
    def user_(self, obj: ApiKey) -> SafeString:
        return format_html("<bdi>{}</bdi>", obj.user.get_username())

    @admin.display(description=_("may"))
    def scopes(self, obj: ApiKey) -> str:
        allowed = {
            _("run models"): obj.may_run,
            _("list models"): obj.may_list,
            _("export conversations"): obj.may_export,
            _("set AI Gateway options"): obj.may_set_gateway,
        }
        return ", ".join(str(name) for name, allowed in allowed.items() if allowed)

    @admin.display(description=_("state"))
    def state(self, obj: ApiKey) -> str:
        if obj.revoked:
            return _("revoked on %(when)s") % {"when": in_words(obj.revoked)}
        if not obj.user.is_active:
            return str(_("the person is disabled"))
        if not obj.expires:
            return str(_("valid"))
        words = _("expired on %(when)s") if obj.has_expired else _("valid until %(when)s")
        return words % {"when": in_words(obj.expires)}

    @admin.display(description=_("last used"), ordering="last_used")
    def last_used_(self, obj: ApiKey) -> str:
        return moment(obj.last_used)

    @admin.display(description=_("made"), ordering="created")
    def created_(self, obj: ApiKey) -> str:
        return moment(obj.created)

    @admin.action(description=_("Revoke the selected keys"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet) -> None:
        """Revoke the keys for good. Requests in progress with them end within seconds."""
        revoked = [key for key in queryset if key.revoke()]
        for key in revoked:
            self.log_change(request, key, "Revoked.")
        words = ngettext("%(number)d key was revoked.", "%(number)d keys were revoked.", len(revoked))
        messages.success(request, words % {"number": len(revoked)})

    @admin.action(description=_("Allow the selected keys to set AI Gateway options"), permissions=["gateway"])
    def allow_gateway(self, request: HttpRequest, queryset: QuerySet) -> TemplateResponse | None:
        """Ask for confirmation; then let calls with these keys choose the AI Gateway and its settings."""
        form = ConfirmedForm(request.POST if "confirmed" in request.POST else None)
        form.request = request
        if form.is_valid():
            self._set_gateway(request, queryset, allowed=True)
            return None
        context = {
            **self.admin_site.each_context(request),
            "title": _("Allow AI Gateway options"),
            "opts": self.opts,
            "form": form,
            "keys": queryset.select_related("user"),
        }
        return TemplateResponse(request, "admin/chat/apikey/allow_gateway.html", context)

    @admin.action(
        description=_("Stop the selected keys from setting AI Gateway options"), permissions=["gateway"]
    )
    def forbid_gateway(self, request: HttpRequest, queryset: QuerySet) -> None:
        """Refuse calls with these keys that set the AI Gateway."""
        self._set_gateway(request, queryset, allowed=False)

    def _set_gateway(self, request: HttpRequest, queryset: QuerySet, *, allowed: bool) -> None:
        changed = list(queryset.filter(may_set_gateway=not allowed))
        queryset.model.objects.filter(pk__in=[key.pk for key in changed]).update(may_set_gateway=allowed)
        for key in changed:
            note = "May set the AI Gateway." if allowed else "May not set the AI Gateway."
            self.log_change(request, key, note)
        words = ngettext("%(number)d key was changed.", "%(number)d keys were changed.", len(changed))
        messages.success(request, words % {"number": len(changed)})

    def has_gateway_permission(self, request: HttpRequest) -> bool:
        """Return True for administrators only: a gateway's log, cache and costs belong to the account."""
        return bool(request.user.is_active and getattr(request.user, "is_superuser", False))
