"""Confirmation of a signed-in user's password: one check at a time per session.

Everything that a session alone must not be enough for asks for the password by `confirm`, or in an async view
by `confirm_in_turn`: the change of one's own password, new API keys, and in the administration what gives
access to another account or changes rights.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from django.conf import settings
from django.contrib.auth import authenticate
from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.accounts.backends import forget_failures, throttled_name
from chat.db.fair_executor import FairExecutor
from chat.exceptions import ServiceOverloaded, WrongPassword
from chat.models.user import User

from .login import LOCKED_OUT, locked_out

PASSWORD_RETRY_SECONDS = 1
PASSWORD_THREADS = 2
CONFIRM_POOL = FairExecutor("confirming", PASSWORD_THREADS)  # hashes would block the database threads
_lock = Lock()
_sessions: set[str] = set()  # with a check in progress; keys as from `throttled_name`


def confirm(request: HttpRequest, user: User, password: str) -> None:
    """Return if `password` is the signed-in user's. A failure counts against this session only.

    A stolen session can thus not be used to guess the password, and failed logins by others do not keep a
    signed-in user from changing theirs.

    Raises WrongPassword; and ServiceOverloaded, without a check, while another one of this session is in
    progress or after too many failures.
    """
    with _one_check(request, user):
        _check(request, user, password)


async def confirm_in_turn(request: HttpRequest, user: User, password: str) -> None:
    """Run `confirm` off the event loop and off the database threads, in the user's fair turn."""
    with _one_check(request, user):
        await CONFIRM_POOL.run(user.pk, _check, request, user, password)


@contextmanager
def _one_check(request: HttpRequest, user: User) -> Iterator[None]:
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


def _check(request: HttpRequest, user: User, password: str) -> None:
    if authenticate(request, account=user, password=password) is not None:
        forget_failures(request, user)
    elif locked_out(request):
        seconds = round(settings.AXES_COOLOFF_TIME.total_seconds())
        raise ServiceOverloaded(str(LOCKED_OUT), retry_after=seconds)
    else:
        raise WrongPassword(_("That isn’t your current password."))
