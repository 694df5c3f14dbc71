"""Log in, log out, and the set-up link with which the first person makes the administrator's account."""

from threading import Lock
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import auth
from django.contrib.auth import authenticate
from django.contrib.auth.forms import BaseUserCreationForm
from django.contrib.auth.views import redirect_to_login
from django.core.validators import MaxLengthValidator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from chat.backends import client_address, throttled_name
from chat.models.setup import SetupLink
from chat.models.user import User
from chat.views.errors import refuse

LONGEST_PASSWORD = 1024  # characters; the hash costs the same, the request does not
WRONG = "The name or the password is wrong."
LOCKED_OUT = "There were too many wrong passwords. Wait a quarter of an hour, then try again."
# Attempts on one name from one address go one after the other: at once they would all be counted too late.
TURNS = [Lock() for _ in range(64)]


class LoginForm(forms.Form):
    """`login` is a name or an e-mail address. A NUL or a password of 4 kB is refused before it is hashed."""

    login = forms.CharField(
        label="Name or e-mail address",
        max_length=254,
        widget=forms.TextInput(
            attrs={"autocomplete": "username", "autocapitalize": "none", "autofocus": True}
        ),
    )
    password = forms.CharField(
        max_length=LONGEST_PASSWORD,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class SetupForm(BaseUserCreationForm):
    """The first account: a name, an address if there is one, twice a password that satisfies the rules."""

    class Meta(BaseUserCreationForm.Meta):
        model = User
        fields = ("username", "email")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password1"].validators.append(MaxLengthValidator(LONGEST_PASSWORD))


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def login(request: HttpRequest) -> HttpResponse:
    """Log in and go on to `next`; who is logged in already goes to the chat."""
    if request.user.is_authenticated:
        return redirect(settings.LOGIN_REDIRECT_URL)
    form = LoginForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        user = _attempt(request, **form.cleaned_data)
        if user is not None:
            auth.login(request, user)
            return redirect(_next(request))
        if getattr(request, "axes_locked_out", False):
            return refuse(request, 429, LOCKED_OUT, retry_after=settings.AXES_COOLOFF_TIME.total_seconds())
        form.add_error(None, WRONG)
    return render(request, "registration/login.html", {"form": form, "next": _next(request, default="")})


def _attempt(request: HttpRequest, login: str, password: str) -> Any:
    key = throttled_name(request, {"username": login}), client_address(request)
    with TURNS[hash(key) % len(TURNS)]:
        return authenticate(request, username=login, password=password)


def _next(request: HttpRequest, default: str = settings.LOGIN_REDIRECT_URL) -> str:
    """Where to go on, if that is a place of this site."""
    target = request.POST.get("next") or request.GET.get("next") or ""
    local = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return target if local else default


@never_cache
@require_POST
def logout(request: HttpRequest) -> HttpResponse:
    """End the session and have the browser forget what the page kept for this person.

    "storage" is what holds drafts. "cache" is left out: our pages say no-store, so it holds none of them, and
    Back shows the log-in page. "cookies" would clear those of sister sites as well.
    """
    auth.logout(request)
    response = redirect(settings.LOGOUT_REDIRECT_URL)
    response.status_code = 303
    response["Clear-Site-Data"] = '"storage"'
    return response


def admin_login(request: HttpRequest) -> HttpResponse:
    """The admin's own log-in page is ours; who is logged in and still sent here may not see the admin."""
    if request.user.is_authenticated:
        return refuse(request, 403)
    return redirect_to_login(request.GET.get("next") or reverse("admin:index"))


@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def setup(request: HttpRequest, token: str) -> HttpResponse:
    """Make the administrator's account with the one-time link, and log in; any other token is a 404."""
    if not SetupLink.objects.is_open(token):
        raise Http404
    form = SetupForm(request.POST or None)
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
    link = SetupLink.objects.owed()
    return settings.SITE_URL + reverse("setup", args=[link.token]) if link else ""
