"""Secrets of links and keys, and the digest that the database has in place of one."""

import hashlib
import secrets

SECRET_BYTES = 32


def new_secret() -> str:
    """Return a secret for a URL."""
    return secrets.token_urlsafe(SECRET_BYTES)


def digest_of(secret: str) -> str:
    """Return the SHA-256 digest (hex). One fast hash is safe, because a secret has 256 random bits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
