"""The models as people choose them: by maker, with the purpose, the price and the context window of each."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat import formats
from chat.exceptions import BadRequest
from chat.models import Conversation, Preferences, User
from chat.upstream import doors
from chat.upstream.catalog import Catalog, LlmModel, Provider

from .requests import access, request_fields
from .settings import preference_cookies

# The makers' own spelling of their names, by the name in a model's id.
MAKERS = {
    "aisingapore": "AI Singapore",
    "anthropic": "Anthropic",
    "cohere": "Cohere",
    "deepseek-ai": "DeepSeek",
    "defog": "Defog",
    "fblgit": "FBLGIT",
    "google": "Google",
    "google-ai-studio": "Google",
    "grok": "xAI",
    "ibm-granite": "IBM",
    "meta": "Meta",
    "meta-llama": "Meta",
    "microsoft": "Microsoft",
    "mistral": "Mistral AI",
    "mistralai": "Mistral AI",
    "moonshotai": "Moonshot AI",
    "nousresearch": "Nous Research",
    "nvidia": "NVIDIA",
    "openai": "OpenAI",
    "openchat": "OpenChat",
    "perplexity-ai": "Perplexity",
    "qwen": "Qwen",
    "swiss-ai": "Swiss AI",
    "tiiuae": "TII",
    "tinyllama": "TinyLlama",
    "xai": "xAI",
    "zai-org": "Z.ai",
}
LONG_WINDOW, VERY_LONG_WINDOW = 200_000, 900_000  # tokens
SMALL_BILLIONS = 4.0  # billions of parameters
SIZE = re.compile(r"(?<![\w.])([0-9]+(?:\.[0-9]+)?)b(?![a-z0-9])", re.I)  # 3b in llama-3.2-3b-instruct

EVERYDAY = _("Everyday questions")
CODE_PURPOSE = _("Writing and explaining code")
STEP_BY_STEP = _("Step-by-step reasoning and maths")
HARD = _("Hard problems and very long texts")
LONG_TEXTS = _("Everyday questions and long texts")
LONG_REASONING = _("Reasoning over very long texts")
REASONING_PURPOSE = _("Questions that need reasoning")
SHORT_ANSWERS_PURPOSE = _("Short, simple answers")
FINETUNE_BASE = _("A base for finetunes")

PURPOSES = {
    "@cf/zai-org/glm-4.7-flash": _("Everyday questions, writing and code"),
    "@cf/google/gemma-4-26b-a4b-it": _("Everyday questions in many languages"),
    "@cf/meta/llama-3.3-70b-instruct-fp8-fast": _("Careful writing and general knowledge"),
    "@cf/meta/llama-4-scout-17b-16e-instruct": LONG_TEXTS,
    "@cf/openai/gpt-oss-120b": _("Hard questions, maths and code"),
    "@cf/openai/gpt-oss-20b": _("Quick reasoning, maths and code"),
    "@cf/qwen/qwen3-30b-a3b-fp8": _("Reasoning in many languages"),
    "@cf/mistralai/mistral-small-3.1-24b-instruct": _("Writing and translation"),
    "@cf/meta/llama-3.2-3b-instruct": _("Quick answers and summaries"),
    "@cf/ibm-granite/granite-4.0-h-micro": _("Summaries and simple tasks at low cost"),
    "@cf/zai-org/glm-5.3-flash": _("Code and very long texts"),
    "@cf/moonshotai/kimi-k2.6": _("Complex tasks and long texts"),
    "@cf/deepseek-ai/deepseek-v4-flash-0731": LONG_REASONING,
    "@cf/qwen/qwen3.8-27b": _("Reasoning and code"),
    "@cf/nvidia/nemotron-3-120b-a12b": _("Reasoning over long texts"),
    "@cf/meta/llama-3.2-1b-instruct": SHORT_ANSWERS_PURPOSE,
    "@cf/meta/llama-3.1-8b-instruct-fp8": EVERYDAY,
    "@cf/meta/llama-3.1-8b-instruct-fast": EVERYDAY,
    "@cf/meta/llama-3.2-11b-vision-instruct": EVERYDAY,
    "@cf/deepseek-ai/deepseek-r1-distill-qwen-32b": STEP_BY_STEP,
    "@cf/qwen/qwq-32b": STEP_BY_STEP,
    "@cf/qwen/qwen2.5-coder-32b-instruct": CODE_PURPOSE,
    "@cf/aisingapore/gemma-sea-lion-v4-27b-it": _("Languages of Southeast Asia"),
    "@cf/zai-org/glm-5.3": HARD,
    "@cf/zai-org/glm-5.2": HARD,
    "@cf/moonshotai/kimi-k2.7-code": CODE_PURPOSE,
    "@cf/deepseek-ai/deepseek-v4-pro-0813": HARD,
    "@cf/google/gemma-2b-it-lora": FINETUNE_BASE,
    "@cf/google/gemma-7b-it-lora": FINETUNE_BASE,
    "@cf/mistral/mistral-7b-instruct-v0.2-lora": FINETUNE_BASE,
    "@cf/meta-llama/llama-2-7b-chat-hf-lora": FINETUNE_BASE,
    "@cf/swiss-ai/apertus-v1.5-8b": _("Questions in many languages"),
    "@cf/utter-project/eurollm-9b-it": _("Languages of Europe"),
}
DOORS = {
    doors.EVERYDAY: (_("Everyday"), _("For most questions, quickly")),
    doors.CAREFUL: (_("Careful"), _("Takes its time with hard questions")),
    doors.PICTURES: (_("Pictures"), _("Looks at photos and screenshots")),
    doors.CODE: (_("Code"), _("Writes and explains programs")),
}
MIN_MODELS_TO_FILTER = 8  # with more models the dialog has a search field, recent models and favourites
RECENT_MODELS_IN_PICKER = 3
MAX_SENT_ID_CHARS = 200
LATEST_CONVERSATIONS = 30  # conversations in which recent models are looked for


@dataclass(frozen=True, slots=True)
class ModelGroup:
    name: str
    models: list[LlmModel]


def by_maker(models: Iterable[LlmModel]) -> list[ModelGroup]:
    """Return the models by maker; makers and models keep the site's order."""
    groups: dict[str, list[LlmModel]] = {}
    for model in models:
        groups.setdefault(maker(model), []).append(model)
    return [ModelGroup(name, of_maker) for name, of_maker in groups.items()]


def maker(model: LlmModel) -> str:
    """Return who made the model: the account, for a finetune; the server's host, if it tells no maker."""
    if model.local:
        return gettext("On this server")
    if model.finetune:
        return gettext("Your finetunes")
    if model.host is Provider.AI_SEARCH:
        return gettext("Knowledge")
    if model.is_route:
        return gettext("AI Gateway")
    if model.host is Provider.ENDPOINT:
        return host(model)
    segment = re.sub(r"^(workers-ai/)?@(cf|hf)/", "", model.id).split("/")[0]
    return MAKERS.get(segment.lower()) or segment.replace("-", " ").capitalize()


def host(model: LlmModel) -> str:
    """Return the third party or service that receives the prompt, "" for Workers AI and local models."""
    if model.host is Provider.GATEWAY:
        return gettext("AI Gateway")
    if model.host is Provider.AI_SEARCH:
        return gettext("AI Search")
    return urlsplit(settings.OPENAI_BASE_URL).hostname or "" if model.host is Provider.ENDPOINT else ""


def purpose(model: LlmModel) -> str | Promise:
    """Return the bundled line; for any other model one that its description allows."""
    if model.local:
        return _("Nothing leaves this server")
    if model.finetune:
        return _("Finetuned for your account")
    if model.host is Provider.AI_SEARCH:
        return _("Answers from indexed documents, with sources")
    if model.is_route:
        return _("The gateway chooses the model")
    return PURPOSES.get(model.id) or _derived(model)


def _derived(model: LlmModel) -> str | Promise:
    if re.search(r"code", model.id, re.I):
        return CODE_PURPOSE
    if model.reasoning or model.inline_reasoning:
        return LONG_REASONING if model.window >= VERY_LONG_WINDOW else REASONING_PURPOSE
    size = SIZE.search(model.id)
    if size and float(size[1]) <= SMALL_BILLIONS:
        return SHORT_ANSWERS_PURPOSE
    return LONG_TEXTS if model.window >= LONG_WINDOW else EVERYDAY


def label_of(model: LlmModel, doors: Iterable[dict[str, Any]]) -> str:
    """Return the name of the door that leads to a model, or else of the model."""
    return next((door["name"] for door in doors if door["model"] == model), model.name)


def named_doors(offered: Catalog) -> list[dict[str, Any]]:
    """Return the doors that lead this person to a model, each with its name and its sentence."""
    return [
        {
            "model": offered.get(door.model),
            "name": door.name or DOORS[door.kind][0],
            "about": door.about or DOORS.get(door.kind, ("", ""))[1],
        }
        for door in doors.open_doors(offered)
    ]


def by_maker_beside(named: list[dict[str, Any]], offered: Catalog) -> list[Any]:
    """Return the models that no door leads to."""
    behind = [door["model"] for door in named]
    return by_maker(each for each in offered if each not in behind)


@access.require_methods("GET", "HEAD", part=True)
def choice(request: HttpRequest) -> HttpResponse:
    """Return the dialog's content, fetched when it is first opened. `?was=` names a retired model."""
    offered = access.get_models(request)
    groups = [
        {"name": group.name, "models": [facts(model) | {"maker": group.name} for model in group.models]}
        for group in by_maker(offered)
    ]
    retired = offered.retired(request.GET.get("was", ""))
    filtered = len(offered) > MIN_MODELS_TO_FILTER
    user = access.get_user(request)
    row = Preferences.of(user)
    seeing = doors.for_pictures(offered)
    context = {
        "doors": named_doors(offered),
        "for_pictures": seeing.id if seeing else "",
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
        raise BadRequest(gettext("“%(name)s” must be true or false.") % {"name": "favourite"})
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
        "is_base": doors.is_finetune_base(model),
        "local": model.local,
        "finetune": bool(model.finetune),
        "beta": model.beta,
        "paid": model.paid,
        "retires": model.retires,
        "host": host(model),
    }


def tokens(window: int) -> str:
    """Return a token count in short, as model makers write it: both 131072 and 128000 are "128k"."""
    thousand = 1000 if window % 100 == 0 else 1024
    number, unit = (window / thousand**2, "M") if window >= thousand**2 else (window / thousand, "k")
    return number_format(f"{number:.3g}") + unit


def dollars(price: float | None) -> str:
    """Return the price with two decimals, three if the third is not 0; "" if it is unknown."""
    if price is None:
        return ""
    return formats.dollars(price, 2 if f"{price:.3f}".endswith("0") else 3)
