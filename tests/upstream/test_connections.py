"""Many replies at once, and leaving them at any moment: no connection is lost, none stays open."""

import asyncio
import gc
import random
from contextlib import suppress

import pytest

from chat.upstream import completion_stream as replies
from chat.upstream.chat_request import ChatRequest
from chat.upstream.client import Client
from tests.fake_cloudflare.server import Fake
from tests.support.waiting import PATIENCE, becomes
from tests.upstream.asking import MODEL, ask, client, runs


def all_ended(calls: list[dict[str, object]]) -> bool:
    return all(call["ended"] is not None for call in calls)


async def test_the_next_question_finds_the_connection_open(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies, "LAST_BYTES_SECONDS", PATIENCE)  # they come at once, but for a busy machine
    async with client(fake) as made:
        for _ in range(4):
            assert (await ask(made, "fake: words tokens=3 delay=0.002")).error is None
    assert len({call["peer"] for call in fake.calls}) == 1


async def test_leaving_a_reply_stops_the_model_at_once(fake: Fake) -> None:
    async with client(fake) as made:
        reply = made.stream(
            ChatRequest([{"role": "user", "content": "fake: words tokens=1000 delay=0.02"}], MODEL, 9)
        )
        async with reply:
            await anext(reply)
        await asyncio.to_thread(fake.wait_for, lambda calls: calls[0]["closed_by_client"])
        assert not reply.complete


WAYS = [
    "words tokens=50 delay=0.005",
    "words tokens=5000 delay=0",
    "hang before=headers",
    "hang",
    "hang after=3",
    "status code=3040",
    "flaky fails=2 key=cancelled",
    "json text=whole",
    "endless_line mb=4",
    "cut how=reset",
]


async def test_client_survives_a_hundred_cancellations(fake: Fake) -> None:
    chance = random.Random(7)
    async with client(fake) as made:
        for number in range(100):
            before = len(fake.calls)
            pending = asyncio.create_task(ask(made, f"fake: {WAYS[number % len(WAYS)]}"))
            # From before the connection, over headers and body, into the pause before the next try.
            moment = chance.choice([0, 0.0005, 0.002, 0.01, 0.05])
            if moment >= 0.01:
                await becomes(lambda before=before: len(fake.calls) > before)
            await asyncio.sleep(moment)
            pending.cancel()
            with suppress(asyncio.CancelledError):
                await pending
        await asyncio.to_thread(fake.wait_for, all_ended)
        assert (await ask(made, "fake: words tokens=2")).text == "word1 word2"
    gc.collect()  # a connection that nobody closed would be an error now
    assert len(fake.calls) > 30


@pytest.mark.parametrize("before", ["headers", "token"])
async def test_a_cancellation_is_passed_on(fake: Fake, before: str) -> None:
    async with client(fake) as made:
        pending = asyncio.create_task(ask(made, f"fake: hang before={before}"))
        await becomes(lambda: fake.calls)
        await asyncio.sleep(0.1)
        pending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await pending
        await asyncio.to_thread(fake.wait_for, all_ended)


async def test_a_hundred_and_fifty_replies_stream_at_once(fake: Fake) -> None:
    async with client(fake, read_interval=0.04) as made:
        pending = asyncio.gather(*(ask(made, f"fake: held\nnumber {number}") for number in range(150)))
        await becomes(lambda: len(runs(fake)) == 150)
        fake.go_on()
        replies = await pending
    assert [reply.error for reply in replies] == [None] * 150
    assert all(reply.text.count("word") == 20 for reply in replies)
    await asyncio.to_thread(fake.wait_for, all_ended)
    starts, ends = ([call[at] for call in runs(fake)] for at in ("started", "ended"))
    assert max(starts) < min(ends)


async def test_nothing_is_sent_before_the_reply_is_iterated(fake: Fake) -> None:
    async with (
        client(fake) as made,
        made.stream(ChatRequest([{"role": "user", "content": "hello"}], MODEL, 9)),
    ):
        await asyncio.sleep(0.05)
    assert fake.calls == []


async def test_an_error_of_our_own_closes_the_reply_too(fake: Fake) -> None:
    async def fail(made: Client) -> None:
        async with made.stream(
            ChatRequest([{"role": "user", "content": "fake: hang after=1"}], MODEL, 9)
        ) as reply:
            async for _ in reply:
                raise LookupError

    async with client(fake) as made:
        with pytest.raises(LookupError):
            await fail(made)
        await asyncio.to_thread(fake.wait_for, all_ended)
