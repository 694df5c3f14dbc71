"""The current password, asked of a person who is signed in: one check at a time in a session."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from django.contrib.auth import authenticate
from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.backends import forget_failures, throttled_name
from chat.exceptions import ServiceOverloaded
from chat.fair_executor import FairExecutor
from chat.models.user import User

RETRY_SECONDS = 1
THREADS = 2
CONFIRM_POOL = FairExecutor("confirming", THREADS)  # hashes would hold up everybody in the database threads
_lock = Lock()
_sessions: set[str] = set()  # in which a password is being checked


@contextmanager
def one_confirmation(request: HttpRequest, user: User) -> Iterator[None]:
    """Hold this session's only check. Raises ServiceOverloaded while another one is held.

    So what counts failures sees one after the other, and nobody fills threads with hashes.
    """
    session = throttled_name(request, {"account": user})
    with _lock:
        if session in _sessions:
            words = _("Your password is already being checked. Wait a moment, then try again.")
            raise ServiceOverloaded(words, retry_after=RETRY_SECONDS)
        _sessions.add(session)
    try:
        yield
    finally:
        _sessions.discard(session)


def confirm(request: HttpRequest, user: User, password: str) -> bool:
    """Whether `password` is that of `user`, who is signed in. A failure counts for this session alone.

    So whoever stole a session cannot try all passwords, and what others try at the login bars nobody who is
    signed in from changing theirs.
    """
    right = authenticate(request, account=user, password=password) is not None
    if right:
        forget_failures(request, user)
    return right


async def confirm_in_turn(request: HttpRequest, user: User, password: str) -> bool:
    """The same off the event loop, in the person's turn and outside the database's threads."""
    return await asyncio.wrap_future(CONFIRM_POOL.submit(user.pk, confirm, request, user, password))
