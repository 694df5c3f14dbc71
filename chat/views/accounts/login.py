"""Log in and log out, as a page for people and as JSON for an open page whose session ran out.

A message that was sent by form after the session ended is kept: it is a hidden field of the login form, and
after the login it stands in the composer again. It is in no URL and is stored nowhere. It was typed on a page
of this site: a form of another site is refused (CSRF) before its fields are read.

Everything that a session alone must not be enough for asks for the password by `confirm`, or in an async view
by `confirm_in_turn`: the change of one's own password, new API keys, and in the administration what gives
access to another account, changes rights or sends texts elsewhere. There is one check at a time per session.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from urllib.parse import urlsplit
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import auth
from django.contrib.auth import authenticate
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers

from chat.accounts.backends import forget_failures, remember_browser, throttled_name
from chat.accounts.forms import MAX_PASSWORD_CHARS
from chat.accounts.proxies import client_address
from chat.db.fair_executor import FairExecutor
from chat.exceptions import ServiceOverloaded, WrongPassword
from chat.models.user import User
from chat.views import pages
from chat.views.requests import access
from chat.views.requests.errors import refuse
from chat.views.requests.request_fields import wants_json

SIGNED_OUT_COOKIE, SIGNED_OUT_SECONDS = "signed-out", 30  # see plain_page.js
LOGIN_WRONG = _("Incorrect name or password.")
LOCKED_OUT = _("Too many failed attempts. Try again in 15 minutes.")
# Serialise attempts per (name, address), because concurrent ones would all pass the throttle before a failure
# is counted.
LOCKS = [Lock() for _ in range(64)]
PASSWORD_RETRY_SECONDS = 1
PASSWORD_THREADS = 2
CONFIRM_POOL = FairExecutor("confirming", PASSWORD_THREADS)  # hashes would block the database threads
_lock = Lock()
_sessions: set[str] = set()  # with a check in progress; keys as from `throttled_name`


class LoginForm(forms.Form):
    """`login` is a username or an e-mail address. NULs and too long passwords are refused before hashing."""

    login = forms.CharField(
        label=_("Name or email address"),
        max_length=254,
        widget=forms.TextInput(
            attrs={"autocomplete": "username", "autocapitalize": "none", "autofocus": True}
        ),
    )
    password = forms.CharField(
        max_length=MAX_PASSWORD_CHARS,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


@never_cache
@vary_on_headers("Accept")
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def login(request: HttpRequest) -> HttpResponse:
    """Log in and redirect to `next`; a user who is logged in already is redirected to the chat.

    In JSON: `{"user": id or null, "csrf": token}`. A GET tells who is logged in now, perhaps by another tab,
    with a token that matches the current cookie. 401 `wrong_password`, 429 `throttled` with `retry_after`.
    """
    if request.user.is_authenticated:
        return _signed_in(request)
    form = LoginForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        user = attempt(request, **form.cleaned_data)
        if user is not None:
            auth.login(request, user)
            response = _signed_in(request, _next(request))
            remember_browser(request, response)
            return response
        if locked_out(request) and not _pending_message(request):
            return refuse_locked_out(request)
        form.add_error(None, LOCKED_OUT if locked_out(request) else LOGIN_WRONG)
    return _render_form(request, form)


def login_with_pending_message(request: HttpRequest) -> HttpResponse:
    """Respond to a message sent by form while signed out: 401 and the login form, which keeps it."""
    if not _pending_message(request):
        return access.login_redirect(request)
    return _form(request, LoginForm(), access.return_url(request), 401)


def attempt(request: HttpRequest, login: str, password: str) -> User | None:
    """Return the user with this login and password, or None. Failures count, see `locked_out`."""
    key = throttled_name(request, {"username": login}), client_address(request)
    with LOCKS[hash(key) % len(LOCKS)]:
        user = authenticate(request, username=login, password=password)
    return user if isinstance(user, User) else None


def locked_out(request: HttpRequest) -> bool:
    """Return True if the throttle refused the attempt of this request."""
    return bool(getattr(request, "axes_locked_out", False))


def refuse_locked_out(request: HttpRequest) -> HttpResponse:
    return refuse(request, 429, LOCKED_OUT, retry_after=settings.AXES_COOLOFF_TIME.total_seconds())


def _render_form(request: HttpRequest, form: LoginForm) -> HttpResponse:
    """Return the login form, empty or with its errors; for programs JSON."""
    if not wants_json(request):
        return _form(request, form, _next(request, default=""), 429 if locked_out(request) else 200)
    if request.method == "POST":
        return refuse(request, 401, LOGIN_WRONG, code="wrong_password")
    return _session_json(request)


def _form(request: HttpRequest, form: LoginForm, target: str, status: int) -> HttpResponse:
    context = {
        "form": form,
        "next": target,
        "content": _pending_message(request),
        "nobody": not User.objects.exists(),
    }
    response = render(request, "registration/login.html", context, status=status)
    if status == 429:
        response["Retry-After"] = str(round(settings.AXES_COOLOFF_TIME.total_seconds()))
    return response


def _pending_message(request: HttpRequest) -> str:
    message = request.POST.get("content", "")
    return message if message.strip() else ""


def _signed_in(request: HttpRequest, target: str = settings.LOGIN_REDIRECT_URL) -> HttpResponse:
    if wants_json(request):
        return _session_json(request)
    if message := _pending_message(request):
        return pages.render_after_login(request, _conversation(_next(request)), message)
    return redirect(target)


def _conversation(path: str) -> UUID | None:
    """Return the conversation whose page is at `path`, or None."""
    try:
        return resolve(urlsplit(path).path).kwargs.get("conversation")
    except Resolver404:
        return None


def _session_json(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"user": request.user.pk, "csrf": get_token(request)})


def _next(request: HttpRequest, default: str = settings.LOGIN_REDIRECT_URL) -> str:
    """Return the URL in `next` if it is one of this site, otherwise `default`."""
    target = request.POST.get("next") or request.GET.get("next") or ""
    local = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return target if local else default


@never_cache
@require_POST
def logout(request: HttpRequest) -> HttpResponse:
    """End the session and clear the browser's storage for this site (Clear-Site-Data).

    A cookie has the login page's script tell the other tabs, which leave their pages. "storage" holds the
    drafts. Not "cache": the pages are no-store, so it holds none of them, and the Back button shows the login
    page. Not "cookies": that would also clear the cookies of sibling domains.
    """
    auth.logout(request)
    response = redirect(settings.LOGOUT_REDIRECT_URL)
    response.status_code = 303
    response["Clear-Site-Data"] = '"storage"'
    path, secure = settings.LOGIN_URL, settings.SESSION_COOKIE_SECURE
    response.set_cookie(
        SIGNED_OUT_COOKIE, "1", SIGNED_OUT_SECONDS, path=path, secure=secure, samesite="Strict"
    )
    return response


def admin_login(request: HttpRequest) -> HttpResponse:
    """Redirect the admin's login page to the site's; 403 for a logged-in user, who may not see the admin."""
    if request.user.is_authenticated:
        return refuse(request, 403)
    return redirect_to_login(request.GET.get("next") or reverse("admin:index"))


def confirm(request: HttpRequest, user: User, password: str) -> None:
    """Return if `password` is the signed-in user's. A failure counts against this session only.

    A stolen session can thus not be used to guess the password, and failed logins by others do not keep a
    signed-in user from changing theirs.

    Raises WrongPassword; and ServiceOverloaded, without a check, while another one of this session is in
    progress or after too many failures.
    """
    with _one_check(request, user):
        _check(request, user, password)


async def confirm_in_turn(request: HttpRequest, user: User, password: str) -> None:
    """Run `confirm` off the event loop and off the database threads, in the user's fair turn."""
    with _one_check(request, user):
        await CONFIRM_POOL.run(user.pk, _check, request, user, password)


@contextmanager
def _one_check(request: HttpRequest, user: User) -> Iterator[None]:
    """Reserve this session's only check. Raises ServiceOverloaded while another one is in progress.

    The throttle thus counts failures one after the other, and no session fills the threads with hashes.
    """
    session = throttled_name(request, {"account": user})
    with _lock:
        if session in _sessions:
            words = gettext("Your password is already being checked. Wait a moment, then try again.")
            raise ServiceOverloaded(words, retry_after=PASSWORD_RETRY_SECONDS)
        _sessions.add(session)
    try:
        yield
    finally:
        _sessions.discard(session)


def _check(request: HttpRequest, user: User, password: str) -> None:
    if authenticate(request, account=user, password=password) is not None:
        forget_failures(request, user)
    elif locked_out(request):
        seconds = round(settings.AXES_COOLOFF_TIME.total_seconds())
        raise ServiceOverloaded(str(LOCKED_OUT), retry_after=seconds)
    else:
        raise WrongPassword(gettext("That isn’t your current password."))
