"""All users' API keys, with owner and scopes. Secrets cannot be shown, because they are not stored."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat.models import ApiKey

from .formats import in_words, moment


@admin.register(ApiKey)
class KeyAdmin(admin.ModelAdmin):
    """A list without pages for single keys.

    Staff with the right to change keys can revoke them; administrators can also let them set the AI Gateway.
    """

    list_display = ("name", "begins", "person", "scopes", "keeps_conversations", "state", "used", "made")
    list_display_links = None
    list_select_related = ("user",)
    list_filter = ("keeps_conversations", "created")
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    empty_value_display = "–"
    ordering = ("-created",)
    search_fields = ("name", "shown", "user__username")
    actions = ("revoke", "allow_gateway", "forbid_gateway")

    @admin.display(description=_("begins with"), ordering="shown")
    def begins(self, obj: ApiKey) -> SafeString:
        return format_html("<code>{}…</code>", obj.shown)

    @admin.display(description=_("person"), ordering="user__username")
    def person(self, obj: ApiKey) -> SafeString:
        return format_html("<bdi>{}</bdi>", obj.user.get_username())

    @admin.display(description=_("may"))
    def scopes(self, obj: ApiKey) -> str:
        allowed = {
            _("run"): obj.may_run,
            _("list"): obj.may_list,
            _("set the AI Gateway"): obj.may_set_gateway,
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
    def used(self, obj: ApiKey) -> str:
        return moment(obj.last_used)

    @admin.display(description=_("made"), ordering="created")
    def made(self, obj: ApiKey) -> str:
        return moment(obj.created)

    @admin.action(description=_("Revoke the selected keys"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet) -> None:
        """Revoke the keys for good. Requests in progress with them end within seconds."""
        revoked = [key for key in queryset if key.revoke()]
        for key in revoked:
            self.log_change(request, key, "Revoked.")
        words = ngettext("%(number)d key was revoked.", "%(number)d keys were revoked.", len(revoked))
        messages.success(request, words % {"number": len(revoked)})

    @admin.action(description=_("Let the selected keys set the AI Gateway"), permissions=["gateway"])
    def allow_gateway(self, request: HttpRequest, queryset: QuerySet) -> None:
        """Let calls with these keys choose the AI Gateway and its settings."""
        self._set_gateway(request, queryset, allowed=True)

    @admin.action(description=_("Let the selected keys set the AI Gateway no more"), permissions=["gateway"])
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

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: keys are created by their owner, who alone sees the secret."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: the calls that were made with a key refer to it."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return True for the list only, for its actions: a key is never edited."""
        return obj is None and super().has_change_permission(request)

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> Any:
        """Refuse: the list already shows everything about a key."""
        raise PermissionDenied

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """Refuse: Django's view reveals that the row exists before it checks the right."""
        raise PermissionDenied
