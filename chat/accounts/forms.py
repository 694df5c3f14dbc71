"""Account and password forms; those of the admin apply the same rules."""

import re
from typing import Any

from django import forms
from django.contrib.auth import password_validation
from django.contrib.auth.forms import (
    AdminPasswordChangeForm,
    BaseUserCreationForm,
    SetPasswordForm,
    SetPasswordMixin,
)
from django.contrib.auth.forms import UserChangeForm as DjangoUserChangeForm
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db.models import Value
from django.db.models.functions import Lower
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.models.api_key import ApiKey
from chat.models.user import Role, User, flags_of

MAX_SUGGESTED_CHARS = 60
MAX_PASSWORD_CHARS = 1024  # limits the request only: the hash costs the same for any length
EMAIL_TAKEN = _("Another account already uses this email address.")
GONE = _("One of these keys is no longer valid. Choose again.")
LAST_ADMINISTRATOR = _("This is the last administrator who can sign in. Add another one first.")
ABOUT_ROLE = {
    Role.PERSON: _("Uses the chat, and sees only their own chats."),
    Role.REVIEWER: _("Also reads everyone’s chats. Each access is recorded, and its owner can see it."),
    Role.ADMINISTRATOR: _("Manages people, models and everything else in the administration."),
    Role.CUSTOM: _("Has the permissions under “Permissions in detail”. They stay unless you choose a role."),
}


class PasswordRules(SetPasswordMixin):
    """A new password in the field `first`, with the rule that people can follow beforehand and all errors."""

    first = "password1"
    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields[self.first]
        field.validators.append(MaxLengthValidator(MAX_PASSWORD_CHARS))
        field.help_text = gettext("At least %(number)s characters.") % {"number": shortest_password()}

    def validate_password_for_user(self, user: Any, password_field_name: str = "") -> None:
        super().validate_password_for_user(user, password_field_name=self.first)


def shortest_password() -> int:
    """Return the least number of characters that the site's validators accept."""
    validators = password_validation.get_default_password_validators()
    return max(getattr(validator, "min_length", 0) for validator in validators)


class UniqueEmailMixin(forms.BaseModelForm):
    """Report a duplicate e-mail address at its field; the table's constraint error belongs to no field."""

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        others = User.objects.exclude(pk=self.instance.pk).alias(address=Lower("email"))
        if email and others.filter(address=Lower(Value(email))).exists():
            raise ValidationError(EMAIL_TAKEN, code="unique")
        return email


class AccountForm(PasswordRules, UniqueEmailMixin, BaseUserCreationForm):
    """Creation of an account: username, optional e-mail address and password."""

    class Meta(BaseUserCreationForm.Meta):
        model = User
        fields = ("username", "email")
        labels = {"username": _("Name")}
        help_texts = {"username": _("Letters, digits and . + - _ @")}


class OwnAccountForm(AccountForm):
    """Creation of one's own account. The password is typed once: the page can show it."""

    password2 = None  # type: ignore[assignment]


def suggested_name(called: str) -> str:
    """Return a name for signing in that is made of what somebody is called, such as `Alice.Berger`."""
    words = (re.sub(r"[^\w.@+-]", "", word) for word in called.split())
    name = ".".join(filter(None, words))[:MAX_SUGGESTED_CHARS]
    return name if name and not User.objects.filter(username__iexact=name).exists() else ""


class NewPasswordForm(PasswordRules, SetPasswordForm):
    """A new password for a user who is authenticated otherwise, such as by a reset link. It is typed once."""

    first = "new_password1"
    new_password2 = None  # type: ignore[assignment]


class ChangePasswordForm(NewPasswordForm):
    """Change of one's own password. The view checks `current`, so that the throttle counts failures.

    `keep` holds the API keys that stay valid; all others are revoked with the old password.
    """

    current = forms.CharField(max_length=MAX_PASSWORD_CHARS, strip=False)
    keep = forms.ModelMultipleChoiceField(
        ApiKey.objects.none(),
        required=False,
        error_messages={"invalid_choice": GONE, "invalid_pk_value": GONE},
    )
    user: User

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        keep: Any = self.fields["keep"]
        keep.queryset = ApiKey.objects.owned_by(self.user).valid().order_by("-created")


class SetUserPasswordForm(PasswordRules, AdminPasswordChangeForm):
    """A password set by an administrator.

    The option for an unusable password is removed, because there is no other way to sign in.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields.pop("usable_password", None)

    def save(self, commit: bool = True) -> Any:
        """Save only the password column, so that a user who was disabled meanwhile stays disabled."""
        user = super().save(commit=False)
        user.save(update_fields=["password"])
        return user


class UserChangeForm(UniqueEmailMixin, DjangoUserChangeForm):
    """The admin's form for a user's account; the password has its own pages.

    If another role is chosen, it replaces the rights in detail. If not, the rights are saved as they stand in
    the form. `chosen_role` is the new role, None if it stays.
    """

    password = None  # type: ignore[assignment]
    role = forms.ChoiceField(label=_("Role"), required=False, widget=forms.RadioSelect)
    chosen_role: Role | None = None

    class Meta(DjangoUserChangeForm.Meta):
        labels = {
            "username": _("Name"),
            "is_active": _("Can sign in"),
            "is_staff": _("Can open the administration"),
            "is_superuser": _("Has all permissions"),
            "user_permissions": _("Permissions"),
        }
        help_texts = {
            "username": "",
            "is_active": _(
                "Without this, the person is signed out at once and cannot sign in. Their chats are kept."
            ),
            "is_staff": "",
            "is_superuser": _("Including those that no group has."),
            "groups": _("A group gives its permissions, and access to the models that are limited to it."),
            "user_permissions": _("In addition to those of the groups."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "role" in self.fields:
            role: Any = self.fields["role"]
            role.choices = _described_roles(self.instance.role)
            self.initial["role"] = self.instance.role

    @cached_property
    def changed_data(self) -> list[str]:
        """The changed fields; without a choice, the role stays."""
        return [name for name in super().changed_data if name != "role" or self.data.get("role")]

    def clean(self) -> dict[str, Any] | None:
        """Apply the chosen role. Reject a change that would leave nobody who can open the admin."""
        data = super().clean() or {}
        if (role := data.get("role")) and role != self.initial["role"]:
            self.chosen_role = Role(role)
            data |= flags_of(self.chosen_role)
        lost = [name for name in User.ADMINISTRATOR if not data.get(name, getattr(self.instance, name))]
        if lost and User.objects.is_last_administrator(self.instance):
            at = "role" if self.chosen_role and lost[0] != "is_active" else lost[0]
            self.add_error(at, ValidationError(LAST_ADMINISTRATOR, code="last"))
        return data


def _described_roles(current: str) -> list[tuple[str, Any]]:
    """Return the roles to choose from, with what each may do. “Custom” is there only to be kept."""
    offered = [role for role in Role if role != Role.CUSTOM or current == Role.CUSTOM]
    described = '<span class="role">{}</span> <span class="about">{}</span>'
    return [(role.value, format_html(described, role.label, ABOUT_ROLE[role])) for role in offered]
