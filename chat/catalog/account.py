"""The Cloudflare account of this site: that of the settings, else the one connected in the administration.

The token of the latter is in the database, sealed with a key that is derived from SECRET_KEY. Who changes
that key has to connect again: the old token cannot be read any more, unless SECRET_KEY_FALLBACKS has the old
key.
"""

import base64
import logging
import os
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.encoding import force_bytes

from chat.db.executor import write_lock
from chat.models import CatalogState, Site
from chat.telemetry.redaction import conceal
from chat.upstream.client import Account

NONCE_BYTES = 12
KEY_BYTES = 32
PURPOSE = b"chat: the token of the connected Cloudflare account"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Connection:
    """The connected account. `account` None: nothing, or a token that cannot be read."""

    account: Account | None = None
    is_unreadable: bool = False


class Unreadable(Exception):
    """The token was sealed with another SECRET_KEY, or is not what was sealed."""


_connected = Connection()


def connected() -> Connection:
    """Return what the administration has connected, as this process has read it last."""
    return _connected


def of_settings() -> Account | None:
    if not settings.CLOUDFLARE_ACCOUNT_ID:
        return None
    return account_with(settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN)


def account_with(account_id: str, token: str) -> Account:
    return Account(account_id, token, settings.CLOUDFLARE_API_BASE_URL, settings.AI_GATEWAY_BASE_URL)


def current() -> Account | None:
    """Return the account that this process uses. The settings win."""
    return of_settings() or _connected.account


def load() -> Connection:
    """Read what is connected from the database, for `connected` and `current`."""
    global _connected
    row = Site.objects.filter(pk=Site.ONLY).exclude(cloudflare_token="")
    found = row.values_list("cloudflare_account", "cloudflare_token").first()
    _connected = _opened(*found) if found else Connection()
    return _connected


def _opened(account_id: str, sealed: str) -> Connection:
    try:
        token = unseal(account_id, sealed)
    except Unreadable:
        if not _connected.is_unreadable:
            logger.error(
                "the token of the connected Cloudflare account cannot be read: SECRET_KEY has changed"
            )
        return Connection(is_unreadable=True)
    conceal(token)
    return Connection(account_with(account_id, token))


def settings_in_need() -> list[str]:
    """Return the settings that only an account can satisfy: without one, the next start would be refused."""
    found = [
        name for name in ("AI_GATEWAY_ID", "GATEWAY_MODELS", "AI_SEARCH_INSTANCES") if getattr(settings, name)
    ]
    found += [name for name in ("DEFAULT_MODEL", "TITLE_MODEL") if getattr(settings, name).startswith("@")]
    if any(name.startswith("@") for name in settings.FALLBACK_MODELS):
        found.append("FALLBACK_MODELS")
    found += [
        name for name in ("WEB_SEARCH", "READ_PAGE_RENDERING") if getattr(settings, name) == "cloudflare"
    ]
    return found + (["EMBEDDING_MODEL"] if settings.EMBEDDING_MODEL != "none" else [])


def is_stored() -> bool:
    """Return True if an account is connected, also if its token cannot be read. Queries the database."""
    return Site.objects.filter(pk=Site.ONLY).exclude(cloudflare_token="").exists()


def store_account(account_id: str, token: str, by: Any) -> None:
    """Connect an account for all processes: each reads it with the next look at the models."""
    conceal(token)
    fields = {
        "cloudflare_account": account_id,
        "cloudflare_token": seal(account_id, token),
        "connected_at": timezone.now(),
        "connected_by": by,
    }
    _save(fields)


def remove() -> None:
    """Disconnect the account."""
    _save({"cloudflare_account": "", "cloudflare_token": "", "connected_at": None, "connected_by": None})


def _save(fields: dict[str, Any]) -> None:
    Site.objects.store(**fields)
    with write_lock():
        CatalogState.objects.make_due()  # another account has other models
    load()


def seal(account_id: str, token: str) -> str:
    """Return the token encrypted, which opens for the same account id only."""
    nonce = os.urandom(NONCE_BYTES)
    sealed = _cipher(settings.SECRET_KEY).encrypt(nonce, token.encode(), account_id.encode())
    return base64.urlsafe_b64encode(nonce + sealed).decode()


def unseal(account_id: str, sealed: str) -> str:
    """Return the token. Raises Unreadable."""
    from cryptography.exceptions import InvalidTag

    for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        try:
            content = base64.urlsafe_b64decode(sealed)
            nonce, encrypted = content[:NONCE_BYTES], content[NONCE_BYTES:]
            return _cipher(key).decrypt(nonce, encrypted, account_id.encode()).decode()
        except (InvalidTag, ValueError):
            continue
    raise Unreadable


def _cipher(secret_key: str | bytes) -> Any:
    """Return the cipher of this SECRET_KEY. Its library takes 9 MB, so only sites that need it import it."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derived = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=PURPOSE)
    return AESGCM(derived.derive(force_bytes(secret_key)))
