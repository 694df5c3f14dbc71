"""Confirmation of a signed-in user's password: one check at a time per session."""

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

PASSWORD_RETRY_SECONDS = 1
PASSWORD_THREADS = 2
CONFIRM_POOL = FairExecutor("confirming", PASSWORD_THREADS)  # hashes would block the database threads
_lock = Lock()
_sessions: set[str] = set()  # with a check in progress; keys as from `throttled_name`


@contextmanager
def one_confirmation(request: HttpRequest, user: User) -> Iterator[None]:
    """Reserve this session's only check. Raises ServiceOverloaded while another one is in progress.

    The throttle thus counts failures one after the other, and no session fills the threads with hashes.
    """
    session = throttled_name(request, {"account": user})
    with _lock:
        if session in _sessions:
            words = _("Your password is already being checked. Wait a moment, then try again.")
            raise ServiceOverloaded(words, retry_after=PASSWORD_RETRY_SECONDS)
        _sessions.add(session)
    try:
        yield
    finally:
        _sessions.discard(session)


def confirm(request: HttpRequest, user: User, password: str) -> bool:
    """Return True if `password` is the signed-in user's. A failure counts against this session only.

    A stolen session can thus not be used to guess the password, and failed logins by others do not keep a
    signed-in user from changing theirs.
    """
    right = authenticate(request, account=user, password=password) is not None
    if right:
        forget_failures(request, user)
    return right


async def confirm_in_turn(request: HttpRequest, user: User, password: str) -> bool:
    """Run `confirm` off the event loop and off the database threads, in the user's fair turn."""
    return await asyncio.wrap_future(CONFIRM_POOL.submit(user.pk, confirm, request, user, password))
