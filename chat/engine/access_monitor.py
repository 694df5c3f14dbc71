"""End open streams within 5 seconds after their session, password, account or API key became invalid."""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.utils import timezone

from chat.accounts.sessions import session_digest
from chat.db.background import BackgroundTasks
from chat.db.executor import run_in_db
from chat.engine.generation.api_calls import REVOKED, ApiCalls
from chat.engine.streaming.viewer import Viewer, Viewers
from chat.models import ApiKey

CHECK_INTERVAL_SECONDS = 4.0  # one check for all viewers together


class AccessMonitor:
    """Check regularly, for all open streams and API calls of this process together, if they may go on."""

    def __init__(self, viewers: Viewers, calls: ApiCalls) -> None:
        self._viewers = viewers
        self._api_calls = calls
        self._tasks = BackgroundTasks()

    def start(self) -> None:
        self._tasks.repeat(self._check_all, CHECK_INTERVAL_SECONDS, "the check of rights")

    async def stop(self) -> None:
        await self._tasks.cancel()

    async def _check_all(self) -> None:
        if self._viewers.open:
            await self._check(list(self._viewers.open))
        if self._api_calls.open:
            await self._check_keys()

    async def _check(self, viewers: list[Viewer]) -> None:
        sessions, passwords = await run_in_db(
            valid_sessions, {viewer.session for viewer in viewers}, {viewer.user for viewer in viewers}
        )
        for viewer in viewers:
            if viewer.session not in sessions or passwords.get(viewer.user) != viewer.password:
                viewer.revoke()

    async def _check_keys(self) -> None:
        calls = list(self._api_calls.open)
        valid = await run_in_db(valid_keys, {active_call.call.key_id for active_call in calls})
        for active_call in calls:
            if active_call.call.key_id not in valid:
                active_call.abort(REVOKED)


def valid_keys(keys: set[Any]) -> set[Any]:
    """Return those of the API keys that are not revoked, not expired, and of active users."""
    return set(ApiKey.objects.valid().filter(pk__in=keys).values_list("pk", flat=True))


def valid_sessions(sessions: set[str], users: set[int]) -> tuple[set[str], dict[int, str]]:
    """Return those of the sessions that are stored and not expired, and {id: password hash} of active users.

    A changed password ends every session that began with the old one, as Django's own check does.
    """
    keys = {session_digest(session): session for session in sessions}
    kept = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    active = get_user_model().objects.filter(pk__in=users, is_active=True)
    standing = {keys[key] for key in kept.values_list("session_key", flat=True)}
    return standing, dict(active.values_list("pk", "password"))
