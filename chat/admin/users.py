"""The accounts and their rights, and links for users who have lost their password."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, Permission
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import PermissionDenied
from django.db.models import Count, ManyToManyField, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.encoding import force_bytes
from django.utils.html import format_html
from django.utils.http import urlsafe_base64_encode
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters

from chat.accounts.forms import AccountForm, SetUserPasswordForm, UserChangeForm
from chat.formats import grouped_number
from chat.models import McpServer, SiteModel, User
from chat.models.user import REVIEWERS, Role, role_expression, set_permissions

from .base import ChatAdmin, ConfirmedForm, ConfirmedFormMixin, LoggedValuesMixin
from .columns import time_column
from .filters import RoleFilter, StatusFilter
from .permissions import PermissionsField, PermissionsForm

RIGHTS = ("is_staff", "is_superuser", "user_permissions")
PERMISSION_FIELDS = (*RIGHTS, "groups")
ABOUT_PERMISSIONS = _(
    "For rights that no role has. If you choose another role above, it replaces what is set here. Groups "
    "without permissions stay."
)


class ChangeForm(PermissionsForm, ConfirmedForm, UserChangeForm):
    """The form of an account."""


class PasswordForm(ConfirmedForm, SetUserPasswordForm):
    """A new password for another person."""


class GroupForm(PermissionsForm, ConfirmedForm, forms.ModelForm):
    """The form of a group."""

    class Meta:
        labels = {"permissions": _("Members may")}


class BoxesMixin(admin.ModelAdmin):
    """Boxes in place of Django's lists that are filled from others; permissions are in words."""

    filter_horizontal = ()
    formfield_overrides = {ManyToManyField: {"widget": forms.CheckboxSelectMultiple}}

    def formfield_for_manytomany(self, db_field: Any, request: Any = None, **kwargs: Any) -> Any:
        if db_field.remote_field.model is Permission:
            kwargs["form_class"] = PermissionsField
        return super().formfield_for_manytomany(db_field, request, **kwargs)


@admin.register(User)
class UserAdmin(BoxesMixin, LoggedValuesMixin, ConfirmedFormMixin, ChatAdmin, DjangoUserAdmin):
    """The accounts. Staff with the right to change users can change those who are not staff."""

    form = ChangeForm
    add_form = AccountForm
    add_form_template = "admin/chat/user/add_form.html"
    fieldsets = (
        (None, {"fields": ("username", "email", "new_password")}),
        (_("Access"), {"fields": ("is_active", "role", "groups")}),
        (
            _("Permissions in detail"),
            {
                "fields": RIGHTS,
                "classes": ("collapse",),
                "description": ABOUT_PERMISSIONS,
            },
        ),
        (_("Confirmation"), {"fields": ("current",)}),
        (_("Activity"), {"fields": ("last_login_", "date_joined_")}),
    )
    add_fieldsets = ((None, {"fields": ("username", "email", "password1", "password2")}),)
    list_display = ("name", "email", "role", "status", "last_login_")
    list_filter = (RoleFilter, StatusFilter, "groups")
    search_fields = ("username", "email")
    actions = None
    last_login_ = time_column("last_login", _("last signed in"))
    date_joined_ = time_column("date_joined", _("joined"))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Make the role and the permissions read-only, except for superusers."""
        rights = () if request.user.is_superuser else ("role", *PERMISSION_FIELDS)
        return ("new_password", "last_login_", "date_joined_", *rights)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).annotate(role=role_expression())

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Replace the permissions if another role was chosen, after those of the form were saved."""
        super().save_related(request, form, formsets, change)
        if role := getattr(form, "chosen_role", None):
            set_permissions(form.instance, role)

    @admin.display(description=_("name"), ordering="username")
    def name(self, obj: User) -> str:
        return obj.username

    @admin.display(description=_("role"), ordering="role")
    def role(self, obj: Any) -> str:
        return str(Role(obj.role).label)

    @admin.display(description=_("status"), ordering="is_active")
    def status(self, obj: User) -> str:
        return gettext("Active") if obj.is_active else gettext("Disabled")

    @admin.display(description=_("password"))
    def new_password(self, obj: User) -> str:
        """The links to the two ways to set a new password, in place of the hash, which is not shown."""
        link, own = reverse("admin:chat_user_link", args=[obj.pk]), "../password/"
        return format_html(
            '<a href="{}">{}</a> · <a href="{}">{}</a>',
            link,
            _("Create a reset link"),
            own,
            _("Set a password"),
        )

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False for accounts with rights, except to superusers: a new password gives those rights."""
        if obj is not None and (obj.is_staff or obj.is_superuser) and not request.user.is_superuser:
            return False
        return super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: the user's conversations would be deleted with the account."""
        return False

    def get_urls(self) -> list[URLPattern]:
        """Add the URL that makes a link for a new password."""
        link = self.admin_site.admin_view(self.password_link)
        return [path("<id>/link/", link, name="chat_user_link"), *super().get_urls()]

    @method_decorator(sensitive_post_parameters())
    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:  # noqa: A002
        """Set another user's password. For their own, redirect to the page that asks for the current one."""
        person = self._reachable(request, id)
        if person == request.user:
            return redirect("password")
        form = PasswordForm(person, request.POST if request.method == "POST" else None)
        form.request = request
        if form.is_valid():
            form.save()
            self.log_change(request, person, self.construct_change_message(request, form, None))
            messages.success(request, gettext("The password was changed."))
            return redirect("admin:chat_user_change", person.pk)
        return self.page(request, "password", gettext("Password"), person=person, form=form)

    @method_decorator(sensitive_post_parameters())
    def password_link(self, request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
        """Ask for confirmation; then end the password and show, this once, a link to choose a new one."""
        person = self._reachable(request, id)
        if person == request.user:
            return redirect("password")
        if not person.is_active:
            messages.error(request, gettext("A disabled person can’t use a link. Enable the account first."))
            return redirect("admin:chat_user_change", person.pk)
        form = ConfirmedForm(request.POST if request.method == "POST" else None)
        form.request = request
        link = self._new_link(request, person) if form.is_valid() else ""
        days = settings.PASSWORD_RESET_TIMEOUT // 86_400
        title = gettext("Password reset link")
        return self.link_page(request, title, person=person, form=form, link=link, days=days)

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
        self.log_change(request, person, gettext("Created a password reset link."))
        key = urlsafe_base64_encode(force_bytes(person.pk))
        return settings.SITE_URL + reverse("reset", args=[key, default_token_generator.make_token(person)])


def _shown(group: Group) -> str:
    """Return the name as people see it. Only here is that of `REVIEWERS` translated."""
    return gettext("Reviewers") if group.name == REVIEWERS else group.name


Group.add_to_class("__str__", _shown)  # Django's lists, forms and filters show it so
admin.site.unregister(Group)


@admin.register(Group)
class GroupAdmin(BoxesMixin, LoggedValuesMixin, ConfirmedFormMixin, ChatAdmin, DjangoGroupAdmin):
    """Django's groups, for superusers only, because other staff could add rights to a group of their own."""

    form = GroupForm
    actions = None
    list_display = ("__str__", "members_")

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).annotate(members=Count("user"))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("name", *(("members_",) if obj else ()), "permissions", "current")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("members_",)

    @admin.display(description=_("members"))
    def members_(self, obj: Any) -> SafeString:
        """Their number, which leads to them."""
        address = reverse("admin:chat_user_changelist") + f"?groups__id__exact={obj.pk}"
        return format_html('<a href="{}">{}</a>', address, grouped_number(obj.members))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False for a group that gives something.

        Taking permissions away needs the password, see `ConfirmedForm`; a model or a tool server without its
        last group is for everybody.
        """
        restricted = (SiteModel.objects, McpServer.objects)
        if obj is not None and (
            obj.permissions.exists() or any(rows.filter(groups=obj).exists() for rows in restricted)
        ):
            return False
        return request.user.is_superuser
