"""Account and password forms; those of the admin apply the same rules."""

from typing import Any

from django import forms
from django.contrib.auth.forms import (
    AdminPasswordChangeForm,
    BaseUserCreationForm,
    SetPasswordForm,
    SetPasswordMixin,
    UserChangeForm,
)
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db.models import Value
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from chat.models.api_key import ApiKey
from chat.models.user import User

LONGEST_PASSWORD = 1024  # characters; limits the request, because the hash costs the same for any length
TAKEN = _("Another account has this e-mail address.")
GONE = _("One of these keys is not valid any more. Choose again.")
LAST_ADMINISTRATOR = _("This is the last administrator who can sign in. Make another one first.")


class PasswordRules(SetPasswordMixin):
    """Two fields for a new password. Errors appear at the field `first`, beside the password rules."""

    first = "password1"
    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields[self.first].validators.append(MaxLengthValidator(LONGEST_PASSWORD))

    def validate_password_for_user(self, user: Any, password_field_name: str = "") -> None:
        super().validate_password_for_user(user, password_field_name=self.first)


class UniqueEmailMixin(forms.BaseModelForm):
    """Report a duplicate e-mail address at its field; the table's constraint error belongs to no field."""

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        others = User.objects.exclude(pk=self.instance.pk).alias(address=Lower("email"))
        if email and others.filter(address=Lower(Value(email))).exists():
            raise ValidationError(TAKEN, code="unique")
        return email


class AccountForm(PasswordRules, UniqueEmailMixin, BaseUserCreationForm):
    """Creation of one's own account: username, optional e-mail address and password."""

    class Meta(BaseUserCreationForm.Meta):
        model = User
        fields = ("username", "email")


class NewPasswordForm(PasswordRules, SetPasswordForm):
    """A new password for a user who is authenticated otherwise, such as by a reset link."""

    first = "new_password1"


class ChangePasswordForm(NewPasswordForm):
    """Change of one's own password. The view checks `current`, so that the throttle counts failures.

    `keep` holds the API keys that stay valid; all others are revoked with the old password.
    """

    current = forms.CharField(max_length=LONGEST_PASSWORD, strip=False)
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


class PersonForm(UniqueEmailMixin, UserChangeForm):
    """The admin's form for a user's account; the password has its own pages."""

    password = None  # type: ignore[assignment]

    def clean(self) -> dict[str, Any] | None:
        """Reject a change that would leave nobody who can open the admin."""
        data = super().clean() or {}
        lost = [name for name in User.ADMINISTRATOR if not data.get(name, getattr(self.instance, name))]
        if lost and User.objects.is_last_administrator(self.instance):
            self.add_error(lost[0], ValidationError(LAST_ADMINISTRATOR, code="last"))
        return data
