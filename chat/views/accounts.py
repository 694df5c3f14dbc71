"""An account by a one-time link: the administrator's at the start, everybody else's by invitation."""

from django.conf import settings
from django.contrib import auth
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from chat.db import write_lock
from chat.forms import AccountForm
from chat.models.invite import Invite
from chat.models.setup import SetupLink
from chat.views.errors import refuse

DEAD_LINK = _("It was used already, or its time is over. Ask who gave it to you for another one.")
TAKEN = _("Somebody took this name or this address a moment ago. Choose another one.")


@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def setup(request: HttpRequest, token: str) -> HttpResponse:
    """Make the administrator's account with the one-time link, and log in; any other token is a 404."""
    if not SetupLink.objects.is_open(token):
        raise Http404
    form = AccountForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        user = SetupLink.objects.claim(token, data["username"], data["email"], data["password1"])
        if user is None:
            raise Http404  # somebody was quicker
        auth.login(request, user)
        return redirect(settings.LOGIN_REDIRECT_URL)
    return render(request, "accounts/setup.html", {"form": form})


def setup_url() -> str:
    """The whole address of the set-up link while it is owed, else an empty text. Reads the database."""
    link = SetupLink.objects.pending()
    return settings.SITE_URL + reverse("setup", args=[link.token]) if link else ""


@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def invite(request: HttpRequest, token: str) -> HttpResponse:
    """Make one's own account with an invitation, and log in.

    A wrong token, a used and an old one get the same 404. Whoever has an account gets a page that says so,
    and the invitation stays open.
    """
    if not Invite.objects.open(token).exists():
        return dead_link(request)
    if request.user.is_authenticated:
        status = 409 if request.method == "POST" else 200
        return render(request, "accounts/invited_already.html", status=status)
    form = AccountForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        return _claim(request, token, form)
    return render(request, "accounts/invite.html", {"form": form})


def _claim(request: HttpRequest, token: str, form: AccountForm) -> HttpResponse:
    user = form.save(commit=False)  # hashed before the database is held
    try:
        with write_lock():
            claimed = Invite.objects.claim(token, user)
    except IntegrityError:
        form.add_error("username", TAKEN)
        return render(request, "accounts/invite.html", {"form": form})
    if not claimed:
        return dead_link(request)  # somebody was quicker
    auth.login(request, user)
    return redirect(settings.LOGIN_REDIRECT_URL)


def dead_link(request: HttpRequest) -> HttpResponse:
    """404, the same for a link that never was and for one that is over."""
    return refuse(request, 404, DEAD_LINK, code="dead_link")
