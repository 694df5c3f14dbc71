"""The forms in which people give themselves a name and a password; the admin's use the same rules."""

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

LONGEST_PASSWORD = 1024  # characters; the hash costs the same, the request does not
TAKEN = _("Another account has this e-mail address.")
GONE = _("One of these keys is not valid any more. Choose again.")
LAST_ADMINISTRATOR = _("This is the last administrator who can sign in. Make another one first.")


class PasswordRules(SetPasswordMixin):
    """A new password, twice. What is wrong with it is said at the first field, where the rules stand."""

    first = "password1"
    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields[self.first].validators.append(MaxLengthValidator(LONGEST_PASSWORD))

    def validate_password_for_user(self, user: Any, password_field_name: str = "") -> None:
        super().validate_password_for_user(user, password_field_name=self.first)


class UniqueEmailMixin(forms.BaseModelForm):
    """Says at its field that an address is taken; the constraint of the table belongs to no field."""

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        others = User.objects.exclude(pk=self.instance.pk).alias(address=Lower("email"))
        if email and others.filter(address=Lower(Value(email))).exists():
            raise ValidationError(TAKEN, code="unique")
        return email


class AccountForm(PasswordRules, UniqueEmailMixin, BaseUserCreationForm):
    """An account of one's own: a name, an address if there is one, and a password."""

    class Meta(BaseUserCreationForm.Meta):
        model = User
        fields = ("username", "email")


class NewPasswordForm(PasswordRules, SetPasswordForm):
    """A password for somebody who proved in another way who they are."""

    first = "new_password1"


class ChangePasswordForm(NewPasswordForm):
    """One's own password; whether `current` is right is for the throttle to say, not for this form.

    `keep` holds the API keys that are not revoked with the old password: none unless they are chosen.
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
    """A password that the administrator makes up. It cannot be none: there is no other way to sign in."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields.pop("usable_password", None)

    def save(self, commit: bool = True) -> Any:
        """Only the password is written: whoever was disabled meanwhile stays disabled."""
        user = super().save(commit=False)
        user.save(update_fields=["password"])
        return user


class PersonForm(UniqueEmailMixin, UserChangeForm):
    """What the administrator changes about somebody; the password has pages of its own."""

    password = None  # type: ignore[assignment]

    def clean(self) -> dict[str, Any] | None:
        """Somebody must be left who can open the admin."""
        data = super().clean() or {}
        lost = [name for name in User.ADMINISTRATOR if not data.get(name, getattr(self.instance, name))]
        if lost and User.objects.is_last_administrator(self.instance):
            self.add_error(lost[0], ValidationError(LAST_ADMINISTRATOR, code="last"))
        return data
