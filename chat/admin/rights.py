"""Changes of rights: they take the password of the administrator who makes them."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.exceptions import ServiceOverloaded
from chat.forms import MAX_PASSWORD_CHARS
from chat.views.password_confirmation import confirm, one_confirmation
from chat.views.passwords import CURRENT_PASSWORD_WRONG

RIGHTS = {"role", "is_staff", "is_superuser", "groups", "user_permissions", "permissions"}


class ConfirmedRightsForm(forms.ModelForm):
    """A form that asks for the password of who fills it in, once one of RIGHTS is changed."""

    request: ClassVar[HttpRequest]
    current = forms.CharField(
        label=_("Your own password"),
        required=False,
        strip=False,
        max_length=MAX_PASSWORD_CHARS,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        help_text=_("Needed to change a role, groups or permissions."),
    )

    def clean(self) -> dict[str, Any] | None:
        """Check the password last, so that a form with other errors costs no hash and counts no failure."""
        data = super().clean() or {}
        if RIGHTS.intersection(self.changed_data) and not self.errors:
            self._check(data.get("current", ""))
        return data

    def _check(self, password: str) -> None:
        user: Any = self.request.user
        try:
            with one_confirmation(self.request, user):
                if not confirm(self.request, user, password):
                    self.add_error("current", ValidationError(CURRENT_PASSWORD_WRONG, code="wrong"))
        except ServiceOverloaded as error:
            self.add_error("current", ValidationError(error.message, code="busy"))


class ConfirmedRightsMixin(admin.ModelAdmin):
    """Give a `ConfirmedRightsForm` the request."""

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change=change, **kwargs)
        form.request = request
        return form
