"""A title that does not come in time is given up."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from chat.conversations.turns.commands import SendMessage
from chat.db.executor import run_in_db
from chat.engine import titles
from chat.engine.engine import Engine
from chat.models import Conversation, TitleRequest, User
from tests.engine.in_process import running_engine
from tests.fake_cloudflare.server import Fake
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)
MODEL = "llama-3.3-70b-instruct-fp8-fast"


@pytest_asyncio.fixture
async def engine(fake: Fake, monkeypatch: pytest.MonkeyPatch, settings: Any) -> AsyncIterator[Engine]:
    monkeypatch.setattr(titles, "DEADLINE_SECONDS", 0.2)
    settings.CLOUDFLARE_ACCOUNT_ID, settings.TITLE_MODEL = "acc", f"@cf/meta/{MODEL}"
    async with running_engine(fake) as made:
        yield made


async def ended_request() -> TitleRequest:
    ended = TitleRequest.objects.filter(finished__isnull=False).select_related("conversation")
    async with asyncio.timeout(PATIENCE):
        while (found := await run_in_db(ended.first)) is None:  # noqa: ASYNC110 - a task of the engine stores it
            await asyncio.sleep(0.02)
    return found


@pytest.mark.parametrize("stalls", ["hang before=headers", "words tokens=9000 delay=0.05"])
async def test_a_title_that_is_late_is_given_up(engine: Engine, fake: Fake, stalls: str) -> None:
    alice = await run_in_db(User.objects.create_user, "alice")
    content = f"Boats\nfake: words tokens=2 delay=0\nfake for {MODEL}: {stalls}"
    question = SendMessage(content=content, client_key=uuid.uuid4())
    await engine.launch(await run_in_db(engine.turn_store.store, alice, question, queued=False))
    request = await ended_request()
    assert (request.status, request.error_code) == ("interrupted", "timeout")
    assert request.conversation.title == "Boats"
    assert request.conversation.title_state == Conversation.TitleState.REQUESTED
