"""The digest that is stored of a secret, so that the database reveals no usable key or link."""

import hashlib


def digest_of(secret: str) -> str:
    """Return the SHA-256 digest (hex). One fast hash is safe, because a secret has 256 random bits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
