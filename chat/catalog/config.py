"""The providers and models of the site's settings."""

import re

from django.conf import settings

from chat.upstream.catalog import LlmModel, Provider
from chat.upstream.client import Account, Endpoint, Gateway, Timeouts
from chat.upstream.providers import ai_search, llama_cpp, shared_llama
from chat.upstream.providers.openai_compatible import DEFAULT_GATEWAY

from . import account as connected_account

NO_EMBEDDINGS = "none"  # the value of EMBEDDING_MODEL that turns them off

# Models whose chat template opens the reasoning: where a server does not separate it, their replies have only
# the tag that closes it.
OPENS_REASONING = re.compile(r"deepseek-?r1|qwq|-thinking\b|-reasoner\b", re.I)


def account() -> Account | None:
    """Return the account in use: everything that asks whether there is one asks here."""
    return connected_account.current()


def title_model() -> str:
    """Return the id of the model that writes titles, or "none"."""
    return str(settings.CONNECTED_TITLE_MODEL if _is_connected() else settings.TITLE_MODEL)


def embedding_model() -> str:
    """Return the id of the account's model that compares long documents with questions, or "none"."""
    return str(settings.CONNECTED_EMBEDDING_MODEL if _is_connected() else settings.EMBEDDING_MODEL)


def _is_connected() -> bool:
    """Return True if the account in use is the one that the administration has connected."""
    return connected_account.of_settings() is None and connected_account.current() is not None


def is_local_model_offered() -> bool:
    """Return True if the local model is: beside another provider only where LOCAL_MODEL names it."""
    return bool(settings.LOCAL_MODEL) or not (account() or settings.OPENAI_BASE_URL)


def is_account_alone() -> bool:
    """Return True if models of the account are the only ones."""
    return not (settings.OPENAI_BASE_URL or is_local_model_offered())


def local_model() -> llama_cpp.LocalModel | None:
    """Return the local model, if there is one; beside another provider, only if LOCAL_MODEL names it.

    Beside an account that the administration has connected it is there, not offered, and never started.
    """
    if (settings.CLOUDFLARE_ACCOUNT_ID or settings.OPENAI_BASE_URL) and not settings.LOCAL_MODEL:
        return None
    path = llama_cpp.find(settings.LOCAL_MODEL)
    return llama_cpp.LocalModel(path, shared_llama.prepared()) if path else None


def timeouts() -> Timeouts:
    return Timeouts(
        settings.UPSTREAM_SILENCE_SECONDS, settings.UPSTREAM_PROGRESS_SECONDS, settings.REPLY_MAX_SECONDS
    )


def gateway() -> Gateway | None:
    """Return the account's AI Gateway; None if the settings name none."""
    if not settings.AI_GATEWAY_ID:
        return None
    return Gateway(
        settings.AI_GATEWAY_ID,
        cache_ttl=settings.AI_GATEWAY_CACHE_TTL,
        cache_per_person=settings.AI_GATEWAY_CACHE_SCOPE == "person",
        request_timeout=settings.AI_GATEWAY_REQUEST_TIMEOUT,
        max_attempts=settings.AI_GATEWAY_MAX_ATTEMPTS,
        retry_delay=settings.AI_GATEWAY_RETRY_DELAY,
        backoff=settings.AI_GATEWAY_BACKOFF,
        metadata=settings.AI_GATEWAY_METADATA,
        log_payloads=settings.AI_GATEWAY_LOG_PAYLOADS,
        cost=settings.AI_GATEWAY_CUSTOM_COST,
    )


def gateway_name() -> str:
    """Return the name of the gateway for requests, "" for none. Third-party providers always need one."""
    return settings.AI_GATEWAY_ID or (DEFAULT_GATEWAY.id if settings.GATEWAY_MODELS else "")


def endpoint() -> Endpoint | None:
    """Return the operator's own server, which speaks OpenAI's API; None if the settings name none."""
    if not settings.OPENAI_BASE_URL:
        return None
    return Endpoint(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY)


def models() -> list[LlmModel]:
    """Return the models that the settings list.

    They keep the names that their providers use, so that users see which provider gets their messages. Only
    an instance of AI Search may have another name: it is the site's own.
    """
    own = account() is not None  # without an account, nobody would answer for what is behind it
    listed = (
        (Provider.GATEWAY, settings.GATEWAY_MODELS if own else ()),
        (Provider.ENDPOINT, settings.OPENAI_MODELS),
    )
    served = [
        LlmModel(
            name,
            name,
            window,
            host=host,
            vision=name in settings.VISION_MODELS,
            inline_reasoning=host is Provider.ENDPOINT and bool(OPENS_REASONING.search(name)),
        )
        for host, found in listed
        for name, window in found
    ]
    return served + [ai_search.model_of(*instance) for instance in settings.AI_SEARCH_INSTANCES if own]
