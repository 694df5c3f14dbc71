"""What takes the administrator's own password, because a session alone, perhaps a stolen one, must not do.

That is whatever gives access to an account or changes what one may do: saving an account or a group, setting
another person's password, making a link for one, and letting an API key set AI Gateway options. What takes
something away from a key (an action of the list), and a new account or invitation, which has no rights, does
not ask.
"""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.accounts.forms import MAX_PASSWORD_CHARS
from chat.exceptions import ServiceOverloaded, WrongPassword
from chat.views.accounts.password_confirmation import confirm


class ConfirmedForm(forms.Form):
    """A form that asks for the password of who fills it in. `request` is set by the view."""

    request: HttpRequest
    current = forms.CharField(
        label=_("Your own password"),
        strip=False,
        max_length=MAX_PASSWORD_CHARS,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if len(self.fields) == 1:  # nothing else to fill in
            self.fields["current"].widget.attrs["autofocus"] = True

    def _post_clean(self) -> None:
        """Check the password last, so that a form with other errors costs no hash and counts no failure."""
        super()._post_clean()  # type: ignore[misc]  # validates the model
        if self.errors:
            return
        user: Any = self.request.user
        try:
            confirm(self.request, user, self.cleaned_data["current"])
        except (WrongPassword, ServiceOverloaded) as refusal:
            self.add_error("current", refusal.message)


class ConfirmedFormMixin(admin.ModelAdmin):
    """Give a `ConfirmedForm` the request."""

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change=change, **kwargs)
        form.request = request
        return form
