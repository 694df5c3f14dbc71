"""Account creation by one-time links: the set-up link for the administrator, invitations for the rest."""

from django.conf import settings
from django.contrib import auth
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from chat.accounts.forms import OwnAccountForm
from chat.db.executor import write_lock
from chat.models.invite import Invite
from chat.models.setup import SetupLink
from chat.views.requests.errors import refuse

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
    if not Invite.objects.open(token).exists():
        return dead_link(request)
    if request.user.is_authenticated:
        status = 409 if request.method == "POST" else 200
        return render(request, "accounts/invited_already.html", status=status)
    form = OwnAccountForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        return _claim(request, token, form)
    return render(request, "accounts/invite.html", {"form": form})


def _claim(request: HttpRequest, token: str, form: OwnAccountForm) -> HttpResponse:
    user = form.save(commit=False)  # hashes the password, before the write lock is taken
    try:
        with write_lock():
            claimed = Invite.objects.claim(token, user)
    except IntegrityError:
        form.add_error("username", ACCOUNT_TAKEN)
        return render(request, "accounts/invite.html", {"form": form})
    if not claimed:
        return dead_link(request)  # another request claimed it first
    auth.login(request, user)
    return redirect(settings.LOGIN_REDIRECT_URL)


def dead_link(request: HttpRequest) -> HttpResponse:
    """Return 404, the same for a link that never existed and for a used or expired one."""
    return refuse(request, 404, DEAD_LINK, code="dead_link")
