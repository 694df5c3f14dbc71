"""The content of the empty page: recent models, and an administrator's checklist of first steps."""

from typing import TypedDict

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse

from chat.models import User
from chat.upstream.catalog import Catalog, LlmModel
from chat.upstream.providers.llama_cpp import BUNDLED_ID

from ..requests import access
from ..requests.responses import HttpResponseSeeOther

RECENT_MODELS_ON_START_PAGE = 4
# Holds the id of the administrator who dismissed the checklist in this browser.
CHECKLIST_COOKIE = "checklist"
COOKIE_SECONDS = 365 * 24 * 60 * 60


class StartContext(TypedDict, total=False):
    """The part of the page's context that only the empty page has."""

    recent_models: list[LlmModel]
    small_model: LlmModel | None
    checklist: bool
    cloudflare: bool


def context(request: HttpRequest, user: User, catalog: Catalog, used: list[str]) -> StartContext:
    """Return the empty page's context. `used`: the models of the user's conversations, the latest first."""
    by_id = {model.id: model for model in catalog}
    recent = [by_id[name] for name in used if name in by_id][:RECENT_MODELS_ON_START_PAGE]
    return {
        "recent_models": recent if len(recent) > 1 else [],
        "small_model": by_id.get(BUNDLED_ID),
        "checklist": user.is_superuser and request.COOKIES.get(CHECKLIST_COOKIE) != str(user.pk),
        "cloudflare": bool(settings.CLOUDFLARE_ACCOUNT_ID),
    }


@access.require_methods("POST", page=True)
def dismiss_checklist(request: HttpRequest) -> HttpResponseBase:
    """Remember in this browser that the user has dismissed the checklist, then show the empty page."""
    user = access.get_user(request)
    response = HttpResponseSeeOther(reverse("chat:home"))
    response.set_cookie(
        CHECKLIST_COOKIE,
        str(user.pk),
        max_age=COOKIE_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response
