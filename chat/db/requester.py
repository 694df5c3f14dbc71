"""The requester: the user or address that the current request works for, known before any query.

A session or an API key counts as its user once it was accepted. Until then it counts for itself and for its
address, so that many invented ones do not count as many people. Requesters share the database's threads.
"""

import hashlib
from collections.abc import Hashable
from contextvars import ContextVar
from typing import NamedTuple

MAX_CREDENTIALS = 10_000  # that are remembered; the oldest is forgotten first

_users: dict[bytes, Hashable] = {}


class Requester(NamedTuple):
    """`address` is None once `person` is the id of a user."""

    person: Hashable
    address: Hashable = None


requester: ContextVar[Requester | None] = ContextVar("requester", default=None)


def identify(credentials: list[str], address: str | None) -> None:
    """Set the requester of this request: the user of the first known of its credentials."""
    digests = [_digest(credential) for credential in credentials if credential]
    for digest in digests:
        if (user := _users.get(digest)) is not None:
            requester.set(Requester(user))
            return
    requester.set(Requester(digests[0] if digests else address, ("address", address)))


def remember(credential: str, user: Hashable) -> None:
    """Note that a session or an API key was accepted as this user's."""
    digest = _digest(credential)
    if digest not in _users:
        while len(_users) >= MAX_CREDENTIALS:
            _users.pop(next(iter(_users), b""), None)
        _users[digest] = user


def _digest(credential: str) -> bytes:
    """Return a digest, because no secret is kept in memory for longer than its request."""
    return hashlib.sha256(credential.encode("utf-8", "backslashreplace")).digest()
