"""Account creation by one-time links, and password change.

The set-up link is for the administrator, invitations are for the rest. A password is changed with the current
one, or with a reset link from the administrator.
"""

from typing import Any

from django.conf import settings
from django.contrib import auth
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import INTERNAL_RESET_SESSION_TOKEN, PasswordResetConfirmView
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from chat.accounts.forms import ChangePasswordForm, NewPasswordForm, OwnAccountForm, suggested_name
from chat.db.executor import write_lock
from chat.exceptions import ServiceOverloaded, WrongPassword
from chat.models.links import Invite, SetupLink
from chat.models.user import User
from chat.views.accounts.login import confirm
from chat.views.requests.errors import refuse
from chat.views.settings.settings_shell import render_section

USED_SETUP_LINK = _(
    "The set-up link works once. If you created the administrator account with it, sign in. Otherwise look "
    "for the latest link in the server’s terminal or log."
)
DEAD_LINK = _("It was already used or has expired. Ask the person who sent it to you for a new one.")
ACCOUNT_TAKEN = _("This name or email address was just taken. Choose another one.")


@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def setup(request: HttpRequest, token: str) -> HttpResponse:
    """Create the administrator's account with the one-time link, and log in.

    Wrong and used tokens get the same 404, which says what to do.
    """
    if not SetupLink.objects.is_open(token):
        return _used_setup_link(request)
    form = OwnAccountForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        user = SetupLink.objects.claim(token, data["username"], data["email"], data["password1"])
        if user is None:
            return _used_setup_link(request)  # another request claimed it first
        auth.login(request, user)
        return redirect(settings.LOGIN_REDIRECT_URL)
    return render(request, "accounts/setup.html", {"form": form})


def _used_setup_link(request: HttpRequest) -> HttpResponse:
    return refuse(request, 404, USED_SETUP_LINK, code="dead_link")


def setup_url() -> str:
    """Return the absolute URL of the set-up link while no user exists, otherwise "". Uses the database."""
    link = SetupLink.objects.pending()
    return settings.SITE_URL + reverse("setup", args=[link.token]) if link else ""


@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def invite(request: HttpRequest, token: str) -> HttpResponse:
    """Create an account with an invitation, and log in.

    Wrong, used and expired tokens get the same 404. A user who is signed in already gets a page that says so
    (409 for a POST), and the invitation stays open.
    """
    invitation = Invite.objects.open(token).select_related("made_by").first()
    if invitation is None:
        return dead_link(request)
    if request.user.is_authenticated:
        status = 409 if request.method == "POST" else 200
        return render(request, "accounts/invited_already.html", status=status)
    typed = request.POST if request.method == "POST" else None
    form = OwnAccountForm(typed, initial={"username": suggested_name(invitation.note)})
    if form.is_valid():
        return _claim(request, invitation, token, form)
    return _invitation(request, invitation, form)


def _invitation(request: HttpRequest, invitation: Invite, form: OwnAccountForm) -> HttpResponse:
    return render(request, "accounts/invite.html", {"form": form, "host": invitation.made_by})


def _claim(request: HttpRequest, invitation: Invite, token: str, form: OwnAccountForm) -> HttpResponse:
    user = form.save(commit=False)  # hashes the password, before the write lock is taken
    try:
        with write_lock():
            claimed = Invite.objects.claim(token, user)
    except IntegrityError:
        form.add_error("username", ACCOUNT_TAKEN)
        return _invitation(request, invitation, form)
    if not claimed:
        return dead_link(request)  # another request claimed it first
    auth.login(request, user)
    return redirect(settings.LOGIN_REDIRECT_URL)


def dead_link(request: HttpRequest) -> HttpResponse:
    """Return 404, the same for a link that never existed and for a used or expired one."""
    return refuse(request, 404, DEAD_LINK, code="dead_link")


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
