"""The page that connects a Cloudflare account: two fields, checked at once, and in use without a restart."""

import re
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from chat.catalog import account, config
from chat.db.executor import run_in_db
from chat.engine.engine import get_engine
from chat.formats import short_date
from chat.health.connection import Checked, check_account
from chat.models import Site
from chat.views.requests import access
from chat.views.requests.responses import HttpResponseSeeOther

from .base import OwnPasswordForm
from .setup_check import refusal
from .site import log

MAX_TYPED_CHARS = 500
ACCOUNT_ID = re.compile(r"\b[0-9a-f]{32}\b")
OTHER_ACCOUNT_ID = re.compile(r"[\w-]{1,64}", re.ASCII)  # of what stands in for Cloudflare
TOKEN = re.compile(r"[\x21-\x7e]{8,300}")
# Opens the form of a new token with its permissions filled in.
# https://developers.cloudflare.com/fundamentals/api/how-to/account-owned-token-template/
CREATE_URL = (
    "https://dash.cloudflare.com/?to=/:account/api-tokens&permissionGroupKeys=%5B"
    "%7B%22key%22%3A%22ai%22%2C%22type%22%3A%22read%22%7D%2C"
    "%7B%22key%22%3A%22ai%22%2C%22type%22%3A%22edit%22%7D{more}%5D&name=Chat"
)
SEARCH_PERMISSION = "%2C%7B%22key%22%3A%22aig%22%2C%22type%22%3A%22read%22%7D"
GATEWAY_PERMISSIONS = (
    "%2C%7B%22key%22%3A%22aig%22%2C%22type%22%3A%22run%22%7D"
    "%2C%7B%22key%22%3A%22aig%22%2C%22type%22%3A%22edit%22%7D"
)


class ConnectForm(OwnPasswordForm):
    field_order = ("account", "token")
    account = forms.CharField(
        label=_("Account ID"),
        max_length=MAX_TYPED_CHARS,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
        help_text=_("Or the address of any page of your Cloudflare dashboard."),
    )
    token = forms.CharField(
        label=_("API token"),
        max_length=MAX_TYPED_CHARS,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )

    def clean_account(self) -> str:
        typed = self.cleaned_data["account"]
        if found := ACCOUNT_ID.search(typed.lower()):
            return found[0]
        if OTHER_ACCOUNT_ID.fullmatch(typed):
            return str(typed)
        raise ValidationError(_("This holds no account ID: 32 digits and letters from a to f."))

    def clean_token(self) -> str:
        typed = self.cleaned_data["token"].removeprefix("Bearer ").strip()
        if TOKEN.fullmatch(typed):
            return str(typed)
        raise ValidationError(_("This does not look like an API token. Copy it again."))


@sensitive_post_parameters("token", "current")
@access.require_methods("GET", "HEAD", "POST")
async def connect(request: HttpRequest) -> HttpResponseBase:
    """Show what is connected; on POST, connect an account that passes the check, or disconnect it."""
    if (refused := await run_in_db(refusal, request)) is not None:
        return refused
    if request.method != "POST":
        return await run_in_db(_page, request)
    if request.POST.get("what") == "disconnect":
        return await _disconnect(request)
    return await _connect(request, ConnectForm(request.POST))


@sensitive_variables("token")
async def _connect(request: HttpRequest, form: ConnectForm) -> HttpResponse:
    if not await form.confirmed_in_turn(request):
        return await run_in_db(_page, request, form)
    account_id, token = form.cleaned_data["account"], form.cleaned_data["token"]
    checked = await check_account(account.account_with(account_id, token))
    if checked.problem:
        form.add_error(None, checked.problem)
        return await run_in_db(_page, request, form)
    await run_in_db(_store, request, account_id, token)
    engine = await get_engine()
    await engine.catalog_watcher.poll()  # other processes look by themselves
    _say(request, checked)
    return HttpResponseSeeOther(reverse("connect"))


def _say(request: HttpRequest, checked: Checked) -> None:
    messages.success(request, gettext("Connected. Replies now come from Cloudflare."))
    for note in checked.notes:
        messages.warning(request, note)


async def _disconnect(request: HttpRequest) -> HttpResponse:
    if needed := account.settings_in_need():
        words = gettext(
            "First take %(names)s out of the settings: without an account the site would not start."
        )
        messages.error(request, words % {"names": ", ".join(needed)})
        return HttpResponseSeeOther(reverse("connect"))
    form = _leaving(request.POST)
    if not await form.confirmed_in_turn(request):
        return await run_in_db(_page, request, leaving=form)
    await run_in_db(_remove, request)
    engine = await get_engine()
    await engine.catalog_watcher.poll()
    messages.success(request, gettext("Disconnected."))
    return HttpResponseSeeOther(reverse("connect"))


@sensitive_variables("token")
def _store(request: HttpRequest, account_id: str, token: str) -> None:
    account.store_account(account_id, token, request.user)
    log(request, "Cloudflare account connected")


def _remove(request: HttpRequest) -> None:
    account.remove()
    log(request, "Cloudflare account disconnected")


def _leaving(data: QueryDict | None = None) -> OwnPasswordForm:
    """Return the form that disconnects, whose field must not share its id with that of the other form."""
    return OwnPasswordForm(data, auto_id="leaving_%s")


def _page(
    request: HttpRequest, form: ConnectForm | None = None, leaving: OwnPasswordForm | None = None
) -> HttpResponse:
    """Return the page: with the form that was sent, if any, and its errors."""
    status = 400 if form or leaving else 200
    form, leaving = form or ConnectForm(), leaving or _leaving()
    row = Site.objects.one()
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": _("Connect Cloudflare"),
        "form": form,
        "leaving": leaving,
        "day": short_date(row.connected_at) if row.connected_at else "",
        "site_row": row,
        "is_stored": row.cloudflare_token != "",
        "is_unreadable": account.connected().is_unreadable,
        "of_settings": account.of_settings(),
        "gateway": config.gateway_name(),
        "searches": bool(settings.AI_SEARCH_INSTANCES),
        "renders": settings.READ_PAGE_RENDERING == "cloudflare",
        "searches_web": settings.WEB_SEARCH in ("", "cloudflare"),
        "token_url": CREATE_URL.format(more=_more_permissions()),
    }
    return render(request, "admin/chat/connect.html", context, status=status)


def _more_permissions() -> str:
    search = SEARCH_PERMISSION if settings.WEB_SEARCH in ("", "cloudflare") else ""
    return search + (GATEWAY_PERMISSIONS if config.gateway_name() else "")
