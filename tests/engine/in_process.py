"""An engine in the test's own process."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from django.test import override_settings

from chat.conversations.turns.commands import SendMessage
from chat.db.executor import run_in_db
from chat.engine.engine import Engine
from chat.engine.streaming.run_state import RunState
from chat.models import Run, User
from tests.fake_cloudflare.server import Fake


@asynccontextmanager
async def running_engine(fake: Fake) -> AsyncIterator[Engine]:
    """An engine that asks the fake; it is drained at the end. It replaces the models: see `same_models`."""
    account = {"CLOUDFLARE_ACCOUNT_ID": "acc", "CLOUDFLARE_API_TOKEN": "fake-token"}
    base = f"{fake.url}/client/v4"
    with override_settings(CLOUDFLARE_API_BASE_URL=base, DEFAULT_MODEL="", **account):
        made = Engine()
    await made.start()
    yield made
    await made.drain(0)


async def launch_run(engine: Engine, user: User, content: str) -> tuple[Run, RunState]:
    """Ask in a new conversation. The run waits where the engine is full."""
    question = SendMessage(content=content, client_key=uuid.uuid4())
    opened = await run_in_db(engine.turn_store.store, user, question, queued=engine.supervisor.is_full)
    return opened.run, await engine.launch(opened)
