"""Pages to create and revoke API keys, and examples of their use."""

import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from chat.accounts.forms import MAX_PASSWORD_CHARS
from chat.catalog import catalog
from chat.db.executor import run_in_db, write_lock
from chat.exceptions import BadRequest, Conflict, NotAuthenticated, NotFound, WrongPassword
from chat.models import ApiKey, User
from chat.models.api_key import MAX_KEY_NAME_CHARS, digest_of

from ..accounts.login import confirm_in_turn
from ..requests import access, request_fields, request_parsers
from ..requests.request_fields import is_form
from ..requests.responses import HttpResponseSeeOther
from .settings_shell import ShownOnce, render_section

MAX_VALID_KEYS = 50  # per user
LIFETIMES = ("30", "90", "365", "never")  # days
DEFAULT_KEY_DAYS = "90"
SCOPES = ("run", "list", "export")
KEPT_CHOICES = ("usage", "conversations")
NEW_KEY = ShownOnce("new-key", "chat:keys")


@sensitive_post_parameters("password")
@access.require_methods("GET", "HEAD", "POST", page=True)
async def keys(request: HttpRequest) -> HttpResponseBase:
    """List the user's keys; a POST with the user's password creates one, whose secret is shown once.

    Without the password, access to a session for a minute would be enough to get a key for good.
    """
    if request.method != "POST":
        return await run_in_db(_list, request)
    user, key, password = await run_in_db(_parse, request)
    try:
        await confirm_in_turn(request, user, password)
    except WrongPassword as wrong:
        if not is_form(request):
            raise
        return await run_in_db(_unconfirmed, request, user, key, wrong.message)
    return await run_in_db(_create, request, user, key)


@access.require_methods("POST")
def revoke(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Revoke a key: new requests with it are refused, and open ones end."""
    user = access.get_user(request)
    request_parsers.no_fields(request)
    api_key = ApiKey.objects.owned_by(user).filter(pk=key).first()
    if api_key is None:
        raise NotFound(_("This key doesn’t exist."))
    with write_lock():
        api_key.revoke()
    if is_form(request):
        return HttpResponseSeeOther(reverse("chat:keys"))
    return JsonResponse({"id": str(key), "revoked": True})


@access.require_methods("GET", "HEAD", page=True)
def examples(request: HttpRequest) -> HttpResponse:
    """Show examples of API requests to copy, with this site's URL and its default model."""
    access.get_user(request)
    model = catalog.current.get().default.id
    context = {"site": settings.SITE_URL, "model": model}
    return render_section(request, "keys", "chat/api.html", context)


def _list(request: HttpRequest) -> HttpResponse:
    user = access.get_user(request)
    response = _page(request, user, **_created_key(request, user))
    NEW_KEY.forget(request, response)
    return response


def _created_key(request: HttpRequest, user: User) -> dict[str, Any]:
    """Return the key that was just created and its secret; {} if there is none, or it is not this user's."""
    secret = NEW_KEY.read(request)
    new_key = (
        ApiKey.objects.owned_by(user).valid().filter(digest=digest_of(secret)).first() if secret else None
    )
    return {"new_key": new_key, "secret": secret} if new_key else {}


def _page(request: HttpRequest, user: User, status: int = 200, **more: Any) -> HttpResponse:
    keys = ApiKey.objects.owned_by(user).order_by("-created")
    context = {
        "keys": keys,
        "lifetimes": LIFETIMES,
        "longest": MAX_KEY_NAME_CHARS,
        "lifetime": DEFAULT_KEY_DAYS,
    }
    context |= more
    response = render_section(request, "keys", "chat/keys.html", context, status)
    response["Cache-Control"] = "no-store"
    return response


def _parse(request: HttpRequest) -> tuple[User, ApiKey, str]:
    """Return (user, unsaved key, sent password). Refuses invalid requests before the password is checked."""
    user = access.get_user(request)
    sent = request_fields.parse(request, "name", "days", "keep", "password", *SCOPES)
    key = _new_key(sent, user)
    password = request_fields.parse_text(sent, "password", MAX_PASSWORD_CHARS, required=True) or ""
    _check_limit(user)
    return user, key, password


def _check_limit(user: User) -> None:
    """Raise Conflict if the user has MAX_VALID_KEYS valid keys already."""
    if ApiKey.objects.owned_by(user).valid().count() >= MAX_VALID_KEYS:
        raise Conflict(_("You already have %(most)s keys. Revoke one first.") % {"most": MAX_VALID_KEYS})


def _create(request: HttpRequest, user: User, key: ApiKey) -> HttpResponse:
    secret = key.generate_secret()
    with write_lock(), transaction.atomic():
        _hold_password(user)
        _check_limit(user)
        key.save(force_insert=True)
    if is_form(request):
        return NEW_KEY.redirect_with(secret)
    payload = {"id": str(key.pk), "name": key.name, "key": secret}
    return JsonResponse(payload, status=201, headers={"Cache-Control": "no-store"})


def _unconfirmed(request: HttpRequest, user: User, key: ApiKey, wrong: str) -> HttpResponse:
    lifetime = request.POST.get("days", DEFAULT_KEY_DAYS)
    return _page(request, user, 403, wanted=key, lifetime=lifetime, wrong_password=wrong)


def _hold_password(user: User) -> None:
    """Lock the user's row, so that the password cannot be replaced until this transaction ends.

    Otherwise a key created at that moment would outlive the password that confirmed it. Raises
    NotAuthenticated when the password was replaced, or the account disabled, since it was checked.
    """
    same = User.objects.filter(pk=user.pk, password=user.password, is_active=True)
    if not same.select_for_update().exists():
        raise NotAuthenticated(_("Your password was changed. Sign in again."))


def _new_key(sent: dict[str, Any], user: User) -> ApiKey:
    """Return the unsaved key that the fields describe. Raises BadRequest and PayloadTooLarge."""
    name = request_fields.parse_text(sent, "name", MAX_KEY_NAME_CHARS, required=True) or ""
    days = request_fields.parse_choice(sent, "days", LIFETIMES, DEFAULT_KEY_DAYS)
    key = ApiKey(
        user=user,
        name=" ".join(name.split()),
        may_run=bool(sent.get("run")),
        may_list=bool(sent.get("list")),
        may_export=bool(sent.get("export")),
        keeps_conversations=request_fields.parse_choice(sent, "keep", KEPT_CHOICES, "usage")
        == "conversations",
        expires=None if days == "never" else timezone.now() + timedelta(days=int(days)),
    )
    if not (key.may_run or key.may_list or key.may_export):
        raise BadRequest(_("Choose what the key can do."))
    return key
