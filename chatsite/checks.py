"""System checks of the settings. Each finding is an error, so that no server starts with one.

Those of models are in `model_checks.py`.
"""

import ipaddress
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import Error, Tags, register

from chatsite import env

MIN_METRICS_TOKEN_CHARS = 16


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


@system_check(16, Tags.security)
def check_metrics_token() -> Iterable[tuple[str, str]]:
    """Refuse a METRICS_TOKEN that can be guessed: nothing limits how often it is tried."""
    token = settings.METRICS_TOKEN
    if token and (len(token) < MIN_METRICS_TOKEN_CHARS or not token.isascii() or " " in token):
        yield (
            "METRICS_TOKEN is easy to guess, or no bearer token.",
            f"Write {MIN_METRICS_TOKEN_CHARS} or more random letters and digits, "
            "as `openssl rand -hex 32` prints.",
        )


@system_check(17, Tags.compatibility)
def check_traces() -> Iterable[tuple[str, str]]:
    """Refuse OTEL_EXPORTER_OTLP_ENDPOINT when no trace can be sent."""
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        from chat.telemetry.tracing import start

        yield from start.problems(env.library_variable)


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
