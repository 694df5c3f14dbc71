"""The dialog to choose a model: by maker, with the purpose, the price and the context window of each."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from chat import formats
from chat.exceptions import BadRequest
from chat.models import Conversation, Preferences, User
from chat.upstream.catalog import Catalog, LlmModel

from ..requests import access, request_fields
from ..settings import preference_cookies
from . import model_groups
from .model_purposes import purpose

MIN_MODELS_TO_FILTER = 8  # with more models the dialog has a search field, recent models and favourites
RECENT_MODELS_IN_PICKER = 3
MAX_SENT_ID_CHARS = 200
LATEST_CONVERSATIONS = 30  # conversations in which recent models are looked for


@access.require_methods("GET", "HEAD", part=True)
def choice(request: HttpRequest) -> HttpResponse:
    """Return the dialog's content, fetched when it is first opened. `?was=` names a retired model."""
    offered = access.get_models(request)
    groups = [
        {"name": group.name, "models": [facts(model) | {"maker": group.name} for model in group.models]}
        for group in model_groups.by_maker(offered)
    ]
    retired = offered.retired(request.GET.get("was", ""))
    filtered = len(offered) > MIN_MODELS_TO_FILTER
    user = access.get_user(request)
    row = Preferences.of(user)
    context = {
        "groups": groups,
        "filtered": filtered,
        "recent": recent(user, offered) if filtered else [],
        "favourites": row.favourites if row and filtered else [],
        "retired": retired,
        "successor": offered.successor(retired).name if retired else "",
    }
    return render(request, "chat/_model_picker.html", context)


@access.require_methods("POST")
def favourite(request: HttpRequest) -> HttpResponse:
    """Add a model to the person's favourites, or remove it; a retired one can only be removed."""
    user, sent = access.get_user(request), request_fields.parse(request, "model", "favourite")
    model = request_fields.parse_text(sent, "model", MAX_SENT_ID_CHARS, required=True)
    wanted = sent.get("favourite")
    if not isinstance(wanted, bool):
        raise BadRequest(_("“%(name)s” must be true or false.") % {"name": "favourite"})
    if wanted:
        access.get_model_or_400(access.get_models(request), str(model))
    first = preference_cookies.read(request)
    kept = Preferences.objects.set_favourite(user, str(model), wanted, first)
    return JsonResponse({"favourites": kept})


def recent(user: User, offered: Catalog) -> list[str]:
    """Return the ids of the models of the user's latest conversations, most recently used first."""
    latest = Conversation.objects.listed(user).order_by("-updated").values_list("model", flat=True)
    offered_ids = {model.id for model in offered}
    return [name for name in dict.fromkeys(latest[:LATEST_CONVERSATIONS]) if name in offered_ids][
        :RECENT_MODELS_IN_PICKER
    ]


def facts(model: LlmModel) -> dict[str, Any]:
    return {
        "id": model.id,
        "name": model.name,
        "purpose": purpose(model),
        "window": tokens(model.window),
        "price_in": dollars(model.price_in),
        "price_out": dollars(model.price_out),
        "free": not (model.price_in or model.price_out) and (model.local or model.price_in == 0),
        "reasoning": model.reasoning or model.inline_reasoning,
        "tools": model.tools,
        "vision": model.vision and settings.ATTACHMENTS,
        "local": model.local,
        "finetune": bool(model.finetune),
        "beta": model.beta,
        "paid": model.paid,
        "retires": model.retires,
        "host": model_groups.host(model),
    }


def tokens(window: int) -> str:
    """Return a token count in short, as model makers write it: both 131072 and 128000 are "128k"."""
    thousand = 1000 if window % 100 == 0 else 1024
    if window >= thousand**2:
        return f"{window / thousand**2:.3g}M"
    return f"{window / thousand:.3g}k"


def dollars(price: float | None) -> str:
    """Return the price with two decimals, three if the third is not 0; "" if it is unknown."""
    if price is None:
        return ""
    return formats.dollars(price, 2 if f"{price:.3f}".endswith("0") else 3)
