"""The local model's process: it knows no secret, blocks nobody, may die, and outlives nobody."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from chat.upstream.chat_request import ChatRequest
from chat.upstream.client import Client
from chat.upstream.completion_stream import CompletionStream
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.providers.llama_cpp import LocalModel
from tests.upstream.asking import ask

pytestmark = pytest.mark.local


@pytest.fixture
async def model(bundled: Path) -> AsyncIterator[LocalModel]:
    made = LocalModel(bundled)
    yield made
    made.close()


@pytest.fixture
async def client(model: LocalModel) -> AsyncIterator[Client]:
    made = Client(None, model)
    yield made
    await made.aclose()


async def read_on(reply: CompletionStream) -> None:
    async for _ in reply:
        continue


def shown(model: LocalModel, what: str) -> bytes:
    """Return the facts about the process that everyone on the machine, or its owner, can see."""
    assert model._process is not None
    file = Path(f"/proc/{model._process.pid}/{what}")
    if not file.exists():
        pytest.skip("this system does not show that of a process")
    return file.read_bytes()


async def longest_turn(bundled: Path) -> float:
    """Seconds that the loop was held up for at most while the model was loaded."""
    model = LocalModel(bundled)
    starting = asyncio.ensure_future(model.start())
    longest, last = 0.0, time.perf_counter()
    while not starting.done():
        await asyncio.sleep(0.005)
        longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
    await starting
    model.close()
    return longest


async def test_the_loop_turns_while_the_model_loads(bundled: Path) -> None:
    """Accept one success in five: other work on the machine delays the loop as well."""
    turns: list[float] = []
    while not turns or (turns[-1] >= 0.25 and len(turns) < 5):
        turns.append(await longest_turn(bundled))
    assert min(turns) < 0.25, turns


async def test_only_whoever_knows_the_key_is_served(model: LocalModel) -> None:
    await model.start()
    question = {"messages": [{"role": "user", "content": "Hello!"}], "max_tokens": 2}
    async with httpx.AsyncClient(base_url=model.base_url, trust_env=False, timeout=30) as http:
        for key, status in ((model.key, 200), ("another", 401), ("", 401)):
            told = await http.post("/v1/chat/completions", json=question, headers={"x-api-key": key})
            assert told.status_code == status
        for path in ("/", "/slots", "/props", "/metrics", "/v1/models/none"):
            assert (await http.get(path)).status_code >= 400
    assert model.key.encode() not in shown(model, "cmdline") + shown(model, "environ")


async def test_the_sites_secrets_do_not_reach_it(model: LocalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", "very-secret")
    await model.start()
    environment = shown(model, "environ")
    assert b"PATH=" in environment
    assert b"very-secret" not in environment


async def test_it_is_not_ended_by_a_signal_that_is_meant_for_all(client: Client, model: LocalModel) -> None:
    await model.start()
    assert model._process is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(model._process.pid, number)
    assert (await ask(client, "Hello!", model.model, max_tokens=3)).error is None


async def test_when_it_died_the_next_question_starts_it_again(client: Client, model: LocalModel) -> None:
    await model.start()
    first = model._process
    assert first is not None
    first.kill()
    first.wait()
    assert (await ask(client, "Hello!", model.model, max_tokens=3)).error is None
    assert model._process is not first


async def test_when_it_dies_the_replies_that_it_wrote_are_interrupted(
    client: Client, model: LocalModel
) -> None:
    messages = [{"role": "user", "content": "Count to one thousand."}]
    async with client.stream(ChatRequest(messages, model.model, 1_300)) as reply:
        assert await anext(reply)
        assert model._process is not None
        model._process.kill()
        with pytest.raises(UpstreamError) as cut:
            await read_on(reply)
    assert cut.value.kind is ErrorKind.INTERRUPTED


async def test_closed_while_it_starts_it_is_gone(bundled: Path) -> None:
    made = LocalModel(bundled)
    starting = asyncio.ensure_future(made.start())
    while made._process is None:  # noqa: ASYNC110 (nothing but this tells)
        await asyncio.sleep(0.001)
    process = made._process
    made.close()
    with pytest.raises(UpstreamError):
        await starting
    assert process.poll() is not None
    made.close()


async def test_it_ends_with_its_input(model: LocalModel) -> None:
    await model.start()
    assert model._process is not None
    assert model._process.stdin is not None
    model._process.stdin.close()
    assert await asyncio.to_thread(model._process.wait, 60) == 0
