"""The models in groups: by maker, as the picker and the select of a page without scripts show them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from chat.upstream.catalog import LlmModel
from chat.upstream.provider import Provider

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
        return _("On this server")
    if model.finetune:
        return _("Your finetunes")
    if model.host is Provider.AI_SEARCH:
        return _("Knowledge")
    if model.is_route:
        return _("AI Gateway")
    if model.host is Provider.ENDPOINT:
        return host(model)
    segment = re.sub(r"^(workers-ai/)?@(cf|hf)/", "", model.id).split("/")[0]
    return MAKERS.get(segment.lower()) or segment.replace("-", " ").capitalize()


def host(model: LlmModel) -> str:
    """Return the third party or service that receives the prompt, "" for Workers AI and local models."""
    if model.host is Provider.GATEWAY:
        return _("AI Gateway")
    if model.host is Provider.AI_SEARCH:
        return _("AI Search")
    return urlsplit(settings.OPENAI_BASE_URL).hostname or "" if model.host is Provider.ENDPOINT else ""
