"""Pages to create and revoke API keys, and examples of their use."""

import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from chat.db import run_in_db, write_lock
from chat.engine.engine import get_engine
from chat.exceptions import BadRequest, Conflict, NotAuthenticated, NotFound
from chat.forms import LONGEST_PASSWORD
from chat.models import ApiKey, User
from chat.models.api_key import LONGEST_NAME
from chat.timezones import timezone_of

from . import access, request_fields
from .errors import is_form, refuse
from .login import locked_out, refuse_locked_out
from .password_confirmation import confirm_in_turn, one_confirmation
from .redirects import HttpResponseSeeOther

WRONG_PASSWORD = gettext_lazy("This is not your password.")
MOST = 50  # valid keys per user
LIFETIMES = ("90", "30", "365", "never")  # days; the first is what the form offers
SCOPES = ("run", "list")
KEPT = ("usage", "conversations")


@sensitive_post_parameters("password")
@access.require_methods("GET", "HEAD", "POST")
async def keys(request: HttpRequest) -> HttpResponseBase:
    """List the user's keys; a POST with the user's password creates one. Only its response shows the secret.

    Without the password, access to a session for a minute would be enough to get a key for good.
    """
    if request.method != "POST":
        return await run_in_db(_show, request)
    user, key, password = await run_in_db(_asked, request)
    with one_confirmation(request, user):
        if await confirm_in_turn(request, user, password):
            return await run_in_db(_make, request, user, key)
        return await run_in_db(_unconfirmed, request, user, key)


@access.require_methods("POST")
async def revoke(request: HttpRequest, key: uuid.UUID) -> HttpResponseBase:
    """Revoke a key: new requests with it are refused, and open ones end."""
    return await run_in_db(_revoke, request, key)


@access.require_methods("GET", "HEAD")
async def examples(request: HttpRequest) -> HttpResponseBase:
    """Show examples of API requests to copy, with this site's URL and its default model."""
    engine = await get_engine()
    return await run_in_db(_examples, request, engine.catalogue.default.id)


def _examples(request: HttpRequest, model: str) -> HttpResponse:
    try:
        access.get_user(request)
    except NotAuthenticated:
        return access.login_redirect(request)
    return render(request, "chat/api.html", {"site": settings.SITE_URL, "model": model})


def _show(request: HttpRequest) -> HttpResponse:
    try:
        user = access.get_user(request)
    except NotAuthenticated:
        return access.login_redirect(request)
    return _page(request, user)


def _page(request: HttpRequest, user: User, status: int = 200, **more: Any) -> HttpResponse:
    found = ApiKey.objects.owned_by(user).order_by("-created")
    context = {"keys": found, "lifetimes": LIFETIMES, "longest": LONGEST_NAME, **more}
    with timezone.override(timezone_of(request)):
        response = render(request, "chat/keys.html", context, status=status)
    response["Cache-Control"] = "no-store"
    return response


def _asked(request: HttpRequest) -> tuple[User, ApiKey, str]:
    """Return (user, unsaved key, sent password). Refuses invalid requests before the password is checked."""
    user = access.get_user(request)
    sent = request_fields.parse(request, "name", "days", "keep", "password", *SCOPES)
    key = _wanted(sent, user)
    password = request_fields.parse_text(sent, "password", LONGEST_PASSWORD, required=True) or ""
    _limit(user)
    return user, key, password


def _limit(user: User) -> None:
    """Raises Conflict when the user has MOST valid keys already."""
    if ApiKey.objects.owned_by(user).valid().count() >= MOST:
        raise Conflict(_("You have %(most)s keys. Revoke one first.") % {"most": MOST})


def _make(request: HttpRequest, user: User, key: ApiKey) -> HttpResponse:
    secret = key.generate_secret()
    with write_lock(), transaction.atomic():
        _hold_password(user)
        _limit(user)
        key.save(force_insert=True)
    if is_form(request):
        return _page(request, user, made=key, secret=secret)
    answer = {"id": str(key.pk), "name": key.name, "key": secret}
    return JsonResponse(answer, status=201, headers={"Cache-Control": "no-store"})


def _unconfirmed(request: HttpRequest, user: User, key: ApiKey) -> HttpResponse:
    if locked_out(request):
        return refuse_locked_out(request)
    if is_form(request):
        return _page(request, user, 403, wanted=key, wrong_password=WRONG_PASSWORD)
    return refuse(request, 403, WRONG_PASSWORD, code="wrong_password")


def _hold_password(user: User) -> None:
    """Lock the user's row, so that the password cannot be replaced until this transaction ends.

    Otherwise a key created at that moment would outlive the password that confirmed it. Raises
    NotAuthenticated when the password was replaced, or the account disabled, since it was checked.
    """
    same = User.objects.filter(pk=user.pk, password=user.password, is_active=True)
    if not same.select_for_update().exists():
        raise NotAuthenticated(_("Your password was changed. Sign in again."))


def _wanted(sent: dict[str, Any], user: User) -> ApiKey:
    """Return the unsaved key that the fields describe. Raises BadRequest and PayloadTooLarge."""
    name = request_fields.parse_text(sent, "name", LONGEST_NAME, required=True) or ""
    days = _one_of(sent, "days", LIFETIMES)
    key = ApiKey(
        user=user,
        name=" ".join(name.split()),
        may_run=bool(sent.get("run")),
        may_list=bool(sent.get("list")),
        keeps_conversations=_one_of(sent, "keep", KEPT) == "conversations",
        expires=None if days == "never" else timezone.now() + timedelta(days=int(days)),
    )
    if not (key.may_run or key.may_list):
        raise BadRequest(_("Choose what the key may do."))
    return key


def _one_of(sent: dict[str, Any], name: str, allowed: tuple[str, ...]) -> str:
    """Return the field's value, the first of `allowed` if it is missing. Raises BadRequest."""
    value = sent.get(name, allowed[0])
    if value not in allowed:
        words = _("“%(name)s” must be one of: %(names)s.")
        raise BadRequest(words % {"name": name, "names": ", ".join(allowed)})
    return str(value)


def _revoke(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    user = access.get_user(request)
    request_fields.parse(request, required=False)
    found = ApiKey.objects.owned_by(user).filter(pk=key).first()
    if found is None:
        raise NotFound(_("There is no such key."))
    with write_lock():
        found.revoke()
    if is_form(request):
        return HttpResponseSeeOther(reverse("chat:keys"))
    return JsonResponse({"id": str(key), "revoked": True})
