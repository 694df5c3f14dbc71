"""Invitations: creation, with the only display of the link, and revocation by deletion."""

import math
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from chat.models import Invite
from chat.models.links import VALID_FOR

from .base import ChatAdmin
from .columns import moment, time_column


@admin.register(Invite)
class InviteAdmin(ChatAdmin):
    """All invitations. The right to add one is also the right to see all, and to delete unused ones."""

    list_display = ("note_", "state", "expires_", "made_by", "created_")
    list_select_related = ("made_by", "used_by")
    ordering = ("-created",)
    actions = None
    add_form_template = "admin/chat/invite/add_form.html"
    created_ = time_column("created", _("created"))

    @admin.display(description=_("name"), ordering="note")
    def note_(self, obj: Invite) -> str:
        return str(obj)

    @admin.display(description=_("state"))
    def state(self, obj: Invite) -> str:
        """The state: open for some time, used by a user, expired, or disabled together with its maker."""
        if obj.used is not None:
            who = obj.used_by.get_username() if obj.used_by else "?"
            words = gettext("Used by {who} on {when}")
            return format_html(words, who=format_html("<bdi>{}</bdi>", who), when=moment(obj.used))
        if timezone.now() >= obj.expires:
            return format_html(gettext("Expired on {when}"), when=moment(obj.expires))
        return _time_left(obj) if obj.is_open else gettext("Disabled")

    @admin.display(description=_("expires"), ordering="created")
    def expires_(self, obj: Invite) -> str:
        return moment(obj.expires if obj.is_open else None)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("note",) if obj is None else ("note_", "state", "expires_", "made_by", "created_")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return () if obj is None else self.get_fields(request, obj)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: an invitation has nothing to change."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False for a used invitation, which stays as the record of who invited whom."""
        return self.has_add_permission(request) and (obj is None or obj.used is None)

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: Any) -> HttpResponse:
        """Return to the list. Django leaves it, because an invitation cannot be changed."""
        super().response_delete(request, obj_display, obj_id)  # the message
        return redirect("admin:chat_invite_changelist")

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        return super().add_view(
            request, form_url, {**(extra_context or {}), "title": _("Invite someone"), "days": VALID_FOR.days}
        )

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Name the field for who fills it in: what stands there greets the invited person."""
        form = super().get_form(request, obj, change=change, **kwargs)
        if "note" in form.base_fields:
            form.base_fields["note"].label = _("Name")
            form.base_fields["note"].help_text = _("It is filled in on the invitation.")
        return form

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Create the token, and keep it on the request for `response_add` only."""
        obj.made_by = request.user
        request.drawn_token = obj.generate_token()  # type: ignore[attr-defined]
        super().save_model(request, obj, form, change)

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
        """Show the link. Only its digest is stored, so this page cannot be shown again."""
        token = request.drawn_token  # type: ignore[attr-defined]
        return self.link_page(
            request,
            _("Invitation link"),
            invite=obj,
            days=VALID_FOR.days,
            when=moment(obj.expires),
            link=settings.SITE_URL + reverse("invite", args=[token]),
        )


def _time_left(invite: Invite) -> str:
    """Return how long an open invitation stays open: in days, on its last two days in hours."""
    hours = math.ceil((invite.expires - timezone.now()) / timedelta(hours=1))
    if hours > 48:
        days = round(hours / 24)
        return ngettext("Open, expires in %(n)d day", "Open, expires in %(n)d days", days) % {"n": days}
    return ngettext("Open, expires in %(n)d hour", "Open, expires in %(n)d hours", hours) % {"n": hours}
