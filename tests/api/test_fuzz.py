"""No input makes the server fail: calls changed at random, some hundreds here and 20,000 in `make fuzz`.

FUZZ_CALLS and FUZZ_SEED choose how many and which; a call that broke something is named by its number.
"""

import asyncio
import os
from collections import Counter
from http.cookies import SimpleCookie

import pytest
from django.test import AsyncClient

from chat.db.executor import run_in_db
from chat.engine.engine import Engine
from chat.models import ApiKey, Conversation, Message, Run, User
from tests.api.fuzz import Call, call
from tests.api.in_process import engine

__all__ = ["engine"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]
CALLS = int(os.environ.get("FUZZ_CALLS", "500"))
SEED = int(os.environ.get("FUZZ_SEED", "1"))
AT_ONCE = 8


class Caller:
    """A person with a session and two keys, one of which keeps conversations."""

    def __init__(self) -> None:
        self.user = User.objects.create_user("alice", "alice@example.org", "correct horse battery")
        self.bearers = [self._key(keeps) for keeps in (False, True)]
        self.client = AsyncClient(raise_request_exception=False)
        self.client.force_login(self.user)
        self.cookie = self.client.cookies.output(attrs=[], header="").strip()

    def _key(self, keeps: bool) -> str:
        key = ApiKey(user=self.user, name="a program", keeps_conversations=keeps)
        secret = key.generate_secret()
        key.save()
        return f"Bearer {secret}"

    def known(self) -> list[str]:
        """Return ids of existing rows, some of each kind."""
        tables = (Conversation, Message, Run)
        return [
            str(key)
            for table in tables
            for key in table.objects.order_by("pk").values_list("pk", flat=True)[:5]  # type: ignore[attr-defined]
        ]

    async def send(self, made: Call, number: int) -> tuple[int, bytes]:
        headers = {"Authorization": self.bearers[number % 2]} | made.headers
        # Anew for each call: a response to a broken cookie takes it away.
        self.client.cookies = SimpleCookie(headers.pop("Cookie", self.cookie))
        response = await self.client.generic(
            made.method, made.path, made.body, made.content_type, headers=headers
        )
        try:
            if response.streaming:
                return response.status_code, b"".join([part async for part in response])
            return response.status_code, response.content
        finally:
            response.close()


async def test_no_input_makes_the_server_fail(engine: Engine) -> None:
    caller = await run_in_db(Caller)
    statuses: Counter[int] = Counter()
    broken: list[str] = []
    known: list[str] = []
    for first in range(0, CALLS, AT_ONCE):
        if first % (25 * AT_ONCE) == 0:
            known = await run_in_db(caller.known)
        numbers = range(first, min(first + AT_ONCE, CALLS))
        calls = [call(SEED, number, known) for number in numbers]
        responses = await asyncio.gather(*map(caller.send, calls, numbers))
        for number, made, (status, body) in zip(numbers, calls, responses, strict=True):
            statuses[status] += 1
            if status >= 500 or b'"server_error"' in body:
                broken.append(f"{SEED} {number}: {status} {made.method} {made.path} {made.body[:300]!r}")
    print(f"{sum(statuses.values())} calls: {dict(sorted(statuses.items()))}")
    assert broken == []
    assert {200, 400, 401, 404, 405} <= set(statuses), "the calls are all of one kind"
