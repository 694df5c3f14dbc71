"""Asking again before the first token, and the deadlines that hold for all tries together."""

import time

import pytest

from chat.upstream.client import Timeouts
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.routing.routed_request import Backoff, RetryPolicy
from tests.fake_cloudflare.server import Fake
from tests.upstream.asking import ask, client, runs


@pytest.mark.parametrize(
    ("scenario", "kind", "calls"),
    [
        ("status code=3040", ErrorKind.BUSY, 3),
        ("status code=3007", ErrorKind.TIMEOUT, 3),
        ("status code=7009", ErrorKind.UNAVAILABLE, 3),
        ("status code=1 http=500", ErrorKind.UNAVAILABLE, 3),
        ("status code=1 http=502", ErrorKind.UNAVAILABLE, 3),
        ("status code=3036", ErrorKind.QUOTA, 1),
        ("status code=4006", ErrorKind.QUOTA, 1),
        ("status code=3021", ErrorKind.THROTTLED, 1),
        ("status code=2003", ErrorKind.THROTTLED, 1),
        ("status code=10000", ErrorKind.AUTH, 1),
        ("status code=7003", ErrorKind.AUTH, 1),
        ("status code=5021", ErrorKind.TOO_LONG, 1),
        ("status code=3006", ErrorKind.TOO_LONG, 1),
        ("status code=5006", ErrorKind.INVALID, 1),
        ("status code=5007", ErrorKind.UNKNOWN_MODEL, 1),
        ("status code=5035", ErrorKind.NOT_PERMITTED, 1),
        ("status code=2016", ErrorKind.BLOCKED, 1),
        ("status code=2021", ErrorKind.CREDITS, 1),
    ],
)
async def test_only_what_may_pass_is_asked_again_and_twice_at_most(
    fake: Fake, scenario: str, kind: ErrorKind, calls: int
) -> None:
    reply = await ask(fake, f"fake: {scenario}")
    assert (reply.kind, len(runs(fake))) == (kind, calls)


@pytest.mark.parametrize("fails", [1, 2])
@pytest.mark.parametrize("how", ["code=3040", "http=503 code=1", "drop=1"])
async def test_a_passing_failure_is_never_seen(fake: Fake, fails: int, how: str) -> None:
    reply = await ask(fake, f"fake: flaky fails={fails} key=a {how}")
    assert (reply.text.strip(), reply.error) == ("word1 word2 word3 word4 word5", None)
    assert len(runs(fake)) == 1 + fails


async def test_the_wait_that_upstream_names_is_kept(fake: Fake) -> None:
    reply = await ask(fake, "fake: flaky fails=1 key=c retry_after=1")
    first, second = (call["started"] for call in runs(fake))
    assert 1.0 <= second - first < 10
    assert reply.error is None


async def test_a_wait_beyond_fifteen_seconds_is_left_to_the_person(fake: Fake) -> None:
    async with client(fake) as made:
        began = time.monotonic()
        reply = await ask(made, "fake: status code=3040 retry_after=16", retries=RetryPolicy())
    assert time.monotonic() - began < 10
    assert (reply.kind, len(runs(fake))) == (ErrorKind.BUSY, 1)
    assert reply.error is not None
    assert reply.error.retry_after == 16


def test_pauses_grow_and_differ() -> None:
    busy = UpstreamError(ErrorKind.BUSY)
    pauses = []
    for _ in range(5):
        backoff = Backoff(RetryPolicy(base_delay=0.2))
        pauses += [backoff.delay_after(busy, streamed=True, time_left=60) for _ in range(3)]
    firsts, seconds, thirds = pauses[0::3], pauses[1::3], pauses[2::3]
    assert all(0.05 <= pause <= 0.2 for pause in firsts)
    assert all(0.1 <= pause <= 0.4 for pause in seconds)
    assert thirds == [None] * 5
    assert len(set(pauses)) > 5


async def test_a_pause_is_kept_before_it_is_asked_again(fake: Fake) -> None:
    async with client(fake) as made:
        await ask(made, "fake: status code=3040", retries=RetryPolicy(base_delay=0.4))
    first, second, third = (call["started"] for call in runs(fake))
    assert second - first >= 0.09
    assert third - second >= 0.19


async def test_no_pause_begins_that_the_deadline_would_cut(fake: Fake) -> None:
    retries = RetryPolicy(max_total_delay=3_600)
    async with client(fake, timeouts=Timeouts(progress=60)) as made:
        reply = await ask(made, "fake: status code=3040 retry_after=60", retries=retries)
    assert (reply.kind, len(runs(fake))) == (ErrorKind.BUSY, 1)


async def test_nobody_there_is_unavailable_after_two_more_tries() -> None:
    fake = Fake()
    fake.close()
    reply = await ask(fake, "hello")
    assert reply.kind is ErrorKind.UNAVAILABLE
    assert not reply.stream.request_id


async def test_a_closed_client_says_so(fake: Fake) -> None:
    async with client(fake) as made:
        await ask(made, "fake: words tokens=1")
    reply = await ask(made, "fake: words tokens=1")
    assert (reply.kind, len(runs(fake))) == (ErrorKind.UNAVAILABLE, 1)


# Deadlines.


@pytest.mark.parametrize(
    ("scenario", "timeouts"),
    [
        # Long enough for the question to arrive at all on a busy machine.
        ("hang before=headers", Timeouts(silence=1.5)),
        ("hang", Timeouts(silence=1.5)),
        ("hang", Timeouts(progress=1.5)),
        ("comments_only delay=0.02", Timeouts(progress=1.5)),
        ("hang after=2", Timeouts(silence=0.3)),
        ("hang after=2", Timeouts(progress=0.3)),
        ("words tokens=10000 delay=0.05", Timeouts(total=1.5)),
        ("status code=3040 retry_after=0", Timeouts(progress=20)),
    ],
)
async def test_no_reply_outlives_its_deadlines(fake: Fake, scenario: str, timeouts: Timeouts) -> None:
    async with client(fake, timeouts=timeouts) as made:
        began = time.monotonic()
        reply = await ask(made, f"fake: {scenario}")
    assert time.monotonic() - began < 30
    assert reply.kind is (ErrorKind.BUSY if "3040" in scenario else ErrorKind.TIMEOUT)
    if reply.kind is ErrorKind.TIMEOUT:
        assert len(runs(fake)) == 1
        fake.wait_for(lambda calls: calls[0]["closed_by_client"])


async def test_a_steady_reply_outlives_the_deadline_between_tokens(fake: Fake) -> None:
    timeouts = Timeouts(silence=2, progress=2)
    async with client(fake, timeouts=timeouts) as made:
        reply = await ask(made, "fake: words tokens=30 delay=0.1")
    assert (reply.text.count("word"), reply.error) == (30, None)
