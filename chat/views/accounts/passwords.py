"""Password change: with the current password, or with a reset link from the administrator."""

from typing import Any

from django.conf import settings
from django.contrib import auth
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import INTERNAL_RESET_SESSION_TOKEN, PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from chat.accounts.forms import ChangePasswordForm, NewPasswordForm
from chat.exceptions import ServiceOverloaded, WrongPassword
from chat.models.user import User
from chat.views.accounts.accounts import dead_link
from chat.views.accounts.password_confirmation import confirm
from chat.views.requests.errors import refuse
from chat.views.settings.settings_shell import render_section


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def change(request: HttpRequest) -> HttpResponse:
    """Change one's own password. This session stays valid, every other session of the user ends.

    API keys are revoked, except those that the user chooses to keep.
    """
    assert isinstance(request.user, User)
    form = ChangePasswordForm(request.user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            confirm(request, request.user, form.cleaned_data["current"])
        except WrongPassword as wrong:
            form.add_error("current", wrong.message)
        except ServiceOverloaded as refusal:
            return refuse(request, refusal.status, refusal.message, retry_after=refusal.retry_after)
        else:
            return _changed(request, request.user, form)
    return render_section(request, "account", "accounts/password.html", {"form": form})


def _changed(request: HttpRequest, user: User, form: ChangePasswordForm) -> HttpResponse:
    keep = [key.pk for key in form.cleaned_data["keep"]]
    if not user.replace_password(form.cleaned_data["new_password1"], keep):
        return redirect(settings.LOGIN_URL)  # another change came first and ended this session
    update_session_auth_hash(request, user)
    return redirect("password_changed")


@never_cache
@require_safe
@login_required
def changed(request: HttpRequest) -> HttpResponse:
    """Confirm that the password was changed."""
    return render_section(request, "account", "accounts/password_changed.html", {})


class Reset(PasswordResetConfirmView):
    """Choose a password with a link from the administrator, and log in.

    Django's view moves the token into the session and redirects to a URL without it, so that neither the
    history nor a Referer contains it. A wrong, used or expired link, or one of a disabled user, is a 404.
    """

    form_class = NewPasswordForm
    template_name = "accounts/reset.html"
    user: User | None

    def get_user(self, uidb64: str) -> User | None:
        user = super().get_user(uidb64)
        return user if user is not None and user.is_active else None

    def form_valid(self, form: Any) -> HttpResponse:
        del self.request.session[INTERNAL_RESET_SESSION_TOKEN]
        assert self.user is not None
        if not self.user.replace_password(form.cleaned_data["new_password1"]):
            return dead_link(self.request)  # another request replaced it first
        auth.login(self.request, self.user)
        return redirect(settings.LOGIN_REDIRECT_URL)

    def render_to_response(self, context: dict[str, Any], **options: Any) -> HttpResponse:
        return super().render_to_response(context, **options) if self.validlink else dead_link(self.request)
