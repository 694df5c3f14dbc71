"""The accounts and their rights, and links for users who have lost their password."""

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.encoding import force_bytes
from django.utils.html import format_html
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.forms import AccountForm, PersonForm, SetUserPasswordForm
from chat.models import User

from .formats import moment
from .object_history import PermissionBeforeLookupMixin

RIGHTS = ("is_staff", "is_superuser", "groups", "user_permissions")
ABOUT_RIGHTS = _(
    "A reviewer, who reads everybody’s conversations here, is a person with “staff status” in the group "
    "“Reviewers”, and needs nothing else. A disabled person is signed out at once and cannot sign in; the "
    "conversations are kept. People are disabled, never deleted, because what was said would go with them."
)


@admin.register(User)
class PeopleAdmin(PermissionBeforeLookupMixin, UserAdmin):
    """The accounts. Staff with the right to change users can change those who are not staff."""

    form = PersonForm
    add_form = AccountForm
    add_form_template = "admin/chat/user/add_form.html"
    change_password_form = SetUserPasswordForm
    change_user_password_template = "admin/chat/user/password.html"  # noqa: S105
    fieldsets = (
        (None, {"fields": ("username", "email", "new_password")}),
        (_("Rights"), {"fields": ("is_active", *RIGHTS), "description": ABOUT_RIGHTS}),
        (_("Important dates"), {"fields": ("seen", "joined")}),
    )
    add_fieldsets = ((None, {"fields": ("username", "email", "password1", "password2")}),)
    list_display = ("username", "email", "is_active", "is_staff", "is_superuser", "seen")
    list_filter = ("is_active", "is_staff", "is_superuser", "groups")
    search_fields = ("username", "email")
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    actions = None

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Make the rights read-only, except for superusers."""
        rights = () if request.user.is_superuser else RIGHTS
        return ("new_password", "seen", "joined", *rights)

    @admin.display(description=_("last signed in"), ordering="last_login")
    def seen(self, obj: User) -> str:
        return moment(obj.last_login)

    @admin.display(description=_("joined"))
    def joined(self, obj: User) -> str:
        return moment(obj.date_joined)

    @admin.display(description=_("password"))
    def new_password(self, obj: User) -> str:
        """The links to the two ways to set a new password, in place of the hash, which is not shown."""
        link, own = reverse("admin:chat_user_link", args=[obj.pk]), "../password/"
        return format_html(
            '<a href="{}">{}</a> · <a href="{}">{}</a>',
            link,
            _("make a link to choose one"),
            own,
            _("set one"),
        )

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False for accounts with rights, except to superusers: a new password gives those rights."""
        if obj is not None and (obj.is_staff or obj.is_superuser) and not request.user.is_superuser:
            return False
        return super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: the log would lose the user's conversations."""
        return False

    def get_urls(self) -> list[URLPattern]:
        """Add the URL that makes a link for a new password."""
        link = self.admin_site.admin_view(self.password_link)
        return [path("<id>/link/", link, name="chat_user_link"), *super().get_urls()]

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:  # noqa: A002
        """Set another user's password. For their own, redirect to the page that asks for the current one."""
        if self.get_object(request, unquote(id)) == request.user:
            return redirect("password")
        return super().user_change_password(request, id, form_url)

    def password_link(self, request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
        """Ask for confirmation; on POST, end the password and show, this once, a link to choose a new one."""
        person = self._reachable(request, id)
        if person == request.user:
            return redirect("password")
        if not person.is_active:
            messages.error(request, gettext("A disabled person cannot use a link. Enable the account first."))
            return redirect("admin:chat_user_change", person.pk)
        link = self._new_link(request, person) if request.method == "POST" else ""
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("A link for a new password"),
            "person": person,
            "link": link,
            "days": settings.PASSWORD_RESET_TIMEOUT // 86_400,
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/chat/user/link.html", context)

    def _reachable(self, request: HttpRequest, key: str) -> User:
        if not self.has_change_permission(request):
            raise PermissionDenied  # before the response can reveal that the user exists
        person = self.get_object(request, unquote(key))
        if person is None:
            raise Http404
        if not self.has_change_permission(request, person):
            raise PermissionDenied
        return person

    def _new_link(self, request: HttpRequest, person: User) -> str:
        """End the old password at once, and return a link to choose a new one.

        A thief of the old password is locked out: the account's sessions end, its API keys are revoked, and
        requests in progress with either end within five seconds.
        """
        person.set_unusable_password()
        person.save(update_fields=["password"])
        self.log_change(request, person, gettext("Made a link for a new password."))
        key = urlsafe_base64_encode(force_bytes(person.pk))
        return settings.SITE_URL + reverse("reset", args=[key, default_token_generator.make_token(person)])


admin.site.unregister(Group)


@admin.register(Group)
class RightsAdmin(PermissionBeforeLookupMixin, GroupAdmin):
    """Django's groups, for superusers only, because other staff could add rights to a group of their own."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_superuser
