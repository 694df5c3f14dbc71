"""Asking as often as it is of use: breakers, the limit, other models; against a fake of Cloudflare."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import Mock

import pytest

from chat.upstream.catalog import Catalog, LlmModel, Provider
from chat.upstream.chat_request import ChatRequest
from chat.upstream.client import Account, Client, Timeouts
from chat.upstream.errors import MODEL_PAUSED, ErrorKind, UpstreamError
from chat.upstream.routing import rate_limiter as limits
from chat.upstream.routing.circuit_breaker import (
    FAILURE_THRESHOLD,
    QUOTA_REFUSAL_THRESHOLD,
    CircuitBreaker,
    QuotaBreaker,
)
from chat.upstream.routing.rate_limiter import PositionCallback, RateLimiter, ignore_position
from chat.upstream.routing.routed_request import RetryPolicy, RoutedRequest
from chat.upstream.routing.router import Router
from tests.fake_cloudflare.run import Run
from tests.fake_cloudflare.scenarios import status, words
from tests.fake_cloudflare.server import Fake
from tests.support.waiting import becomes
from tests.upstream.asking import account, runs
from tests.upstream.routing.clock import Clock

FIRST = LlmModel("@cf/a/first", "First", window=32_000)
SECOND = LlmModel("@cf/b/second", "Second", window=8_000)
THIRD = LlmModel("@cf/c/third", "Third", window=8_000)
KNOWING = LlmModel("@cf/meta/llama-3.2-3b-instruct", "Knowing", window=8_000)
CALLING = LlmModel("@cf/d/calling", "Calling", window=8_000, tools=True)
ABROAD = LlmModel("openai/abroad", "Abroad", window=8_000, host=Provider.GATEWAY)
HERE = LlmModel("local/here", "Here", window=8_000, local=True)
CATALOG = Catalog([FIRST, SECOND, THIRD, KNOWING, CALLING, HERE], FIRST.id)
QUICK = RetryPolicy(base_delay=0.02)
PATIENT = Timeouts()


@dataclass
class RoutedReply:
    model: LlmModel  # that answered, else the one that was asked
    fallback_reason: str = ""
    complete: bool = False
    request_id: str = ""
    text: str = ""
    error: UpstreamError | None = None

    @property
    def kind(self) -> ErrorKind | None:
        return self.error and self.error.kind


@asynccontextmanager
async def open_router(
    fake: Fake,
    *fallbacks: str,
    limiter: RateLimiter | None = None,
    breaker: Any = CircuitBreaker,
    timeouts: Timeouts = PATIENT,
    catalog: Catalog = CATALOG,
) -> AsyncIterator[Router]:
    client = Client(account(fake), None, timeouts=timeouts, read_interval=0.01)
    try:
        yield Router(
            client,
            lambda: catalog,
            limiter or RateLimiter(10_000, 10_000),
            fallbacks,
            breaker=breaker,
            retry_policy=QUICK,
            quota_breaker=QuotaBreaker(clock=Clock()),  # else one that is spent would begin anew at midnight
        )
    finally:
        await client.aclose()


async def ask(
    made: Router,
    question: str,
    model: LlmModel = FIRST,
    tell: PositionCallback = ignore_position,
    *,
    background: bool = False,
    **options: Any,
) -> RoutedReply:
    reply = RoutedReply(model)
    try:
        async with made.stream(
            ChatRequest([{"role": "user", "content": question}], model, 500, **options),
            tell,
            background=background,
        ) as stream:
            reply.model, reply.fallback_reason = stream.model, stream.fallback_reason
            async for delta in stream:
                reply.text += delta.text
            reply.complete, reply.request_id = stream.complete, stream.request_id
    except UpstreamError as error:
        reply.error = error
    return reply


def models(fake: Fake) -> list[str]:
    """Whom each call asked, by the last part of the name."""
    return [call["path"].rsplit("/", 1)[1] for call in runs(fake)]


def by_model(**scenarios: str) -> str:
    """A question that each model answers in its own way; those not named say words."""
    lines = [f"fake for {name}: {scenario}" for name, scenario in scenarios.items()]
    return "\n".join([*lines, "fake: words tokens=3"])


# Breakers.


class Upstream:
    """A Cloudflare that can die and come back."""

    def __init__(self) -> None:
        self.dead = False

    async def __call__(self, run: Run) -> None:
        await (status(run, code=7009) if self.dead else words(run, tokens=2))


@pytest.fixture
def upstream() -> Upstream:
    return Upstream()


@pytest.fixture
def mortal(upstream: Upstream) -> Iterator[Fake]:
    with Fake(upstream) as made:
        yield made


async def test_a_dead_upstream_costs_few_calls(upstream: Upstream, mortal: Fake) -> None:
    clock = Clock()
    waits: list[float] = []

    async def person(made: Router) -> None:
        began = time.monotonic()
        reply = await ask(made, "hello")
        assert reply.kind is ErrorKind.UNAVAILABLE
        waits.append(time.monotonic() - began)

    async with open_router(mortal, breaker=lambda: CircuitBreaker(pause=21, clock=clock)) as made:
        assert (await ask(made, "hello")).text
        upstream.dead = True
        while not made.breaker(FIRST).is_open:
            await ask(made, "hello")
        before = len(runs(mortal))
        for _ in range(50):  # each asks every six seconds
            await asyncio.gather(*(person(made) for _ in range(50)))
            clock.now += 6
        calls = len(runs(mortal)) - before
        assert 5 <= calls <= 20
        assert sorted(waits)[len(waits) // 2] < 0.1

        upstream.dead = False
        died = clock.now
        while (await ask(made, "hello")).error:
            clock.now += 1
            assert clock.now - died < 25
        assert all(reply.text for reply in await asyncio.gather(*(ask(made, "hello") for _ in range(50))))


async def test_a_trial_that_hangs_is_not_waited_for(fake: Fake) -> None:
    clock = Clock()
    async with open_router(fake, breaker=lambda: CircuitBreaker(failures=1, pause=20, clock=clock)) as made:
        assert (await ask(made, by_model(first="status code=7009"))).kind is ErrorKind.UNAVAILABLE
        clock.now += 20
        trial = asyncio.create_task(ask(made, by_model(first="hang before=headers")))
        await becomes(lambda: len(runs(fake)) == 4)  # the first was sent three times
        reply = await ask(made, "hello")
        assert reply.kind is ErrorKind.UNAVAILABLE
        assert reply.error
        assert reply.error.message == MODEL_PAUSED, "the model said nothing this time"
        clock.now += 20
        assert (await ask(made, "hello")).text
        trial.cancel()


async def test_each_model_has_a_breaker_of_its_own(fake: Fake) -> None:
    async with open_router(fake, breaker=lambda: CircuitBreaker(failures=1, clock=Clock())) as made:
        await ask(made, by_model(first="status code=3040"))
        again = await ask(made, "hello")
        assert (again.kind, again.error and again.error.retry_after) == (ErrorKind.BUSY, 21)
        assert (await ask(made, "hello", SECOND)).text
    assert models(fake) == ["first"] * 3 + ["second"], "and none is asked again while it is left alone"


@pytest.mark.parametrize("way", ["status code=7009", "flaky fails=99 drop=1", "status http=302"])
async def test_requests_of_one_person_pause_the_model_for_no_one_else(fake: Fake, way: str) -> None:
    poison = by_model(first=way)
    alice, bob = ({"metadata": {"person": name}} for name in ("alice", "bob"))
    async with open_router(fake) as made:
        for _ in range(FAILURE_THRESHOLD - 1):
            assert (await ask(made, poison, **alice)).error
        assert (await ask(made, "hello", **alice)).text, "retries count once"
        for _ in range(FAILURE_THRESHOLD):
            assert (await ask(made, poison, **alice)).error
        paused = await ask(made, "hello", **alice)
        assert paused.error
        assert paused.error.message == MODEL_PAUSED
        assert (await ask(made, "hello", **bob)).text


async def test_a_server_that_cannot_be_reached_is_paused_for_everybody(fake: Fake) -> None:
    async with open_router(fake) as made:
        made.client = Client(Account("acc", "t" * 20, "http://127.0.0.1:9/client/v4"), None)
        for _ in range(FAILURE_THRESHOLD):
            reply = await ask(made, "hello", metadata={"person": "alice"})
            assert reply.kind is ErrorKind.UNAVAILABLE
        assert made.breaker(FIRST).is_open_to("bob")
        await made.client.aclose()


@pytest.mark.parametrize("code", [5006, 5021, 10000, 3021])
async def test_a_refusal_that_is_not_the_models_fault_opens_nothing(fake: Fake, code: int) -> None:
    async with open_router(
        fake, breaker=lambda: CircuitBreaker(failures=1), limiter=RateLimiter(99, 99, window=0.01)
    ) as made:
        await ask(made, by_model(first=f"status code={code}"))
        await asyncio.sleep(0.05)
        assert (await ask(made, "hello")).text


async def test_an_empty_answer_that_is_asked_for_again_is_no_failure(fake: Fake) -> None:
    async with open_router(fake, breaker=lambda: CircuitBreaker(failures=1)) as made:
        for _ in range(2):
            assert (await ask(made, by_model(first="json shape=empty"))).error is None
    assert len(runs(fake)) == 4


@pytest.mark.parametrize("code", [3036, 4006])
async def test_a_spent_allowance_is_asked_of_three_times(fake: Fake, code: int) -> None:
    async with open_router(fake) as made:
        for model in (FIRST, SECOND, FIRST, FIRST, SECOND):
            reply = await ask(made, by_model(first=f"status code={code}", second="status code=4006"), model)
            assert reply.kind is ErrorKind.QUOTA
            assert reply.error is not None
            assert 0 < (reply.error.retry_after or 0) <= 86_400
        assert models(fake) == ["first", "second", "first"]
        made.quota_breaker.record_success()
        assert (await ask(made, "hello")).text


async def test_a_quoted_request_does_not_spend_the_allowance(fake: Fake) -> None:
    async with open_router(fake) as made:
        for text in ("daily free allocation", "5028: a"):
            error = UpstreamError(ErrorKind.QUOTA, code="5028", detail=f"Type mismatch of '{text}'")
            request = ChatRequest([{"role": "user", "content": text}], FIRST, 500)
            for _ in range(QUOTA_REFUSAL_THRESHOLD):
                RoutedRequest(made, request, [], False, False, Mock())._record_failure(request, error)
        assert not made.quota_breaker.is_open
        assert error.quotes_request


# The minute's limit.


async def test_requests_over_the_limit_wait_and_learn_their_place(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RECHECK_SECONDS", 0.01)
    clock = Clock()
    places: list[list[int]] = [[] for _ in range(4)]
    async with open_router(fake, limiter=RateLimiter(2, 2, clock=clock)) as made:
        pending = [asyncio.create_task(ask(made, "hello", tell=places[n].append)) for n in range(4)]
        assert all(reply.text for reply in await asyncio.gather(*pending[:2]))
        clock.now += 59
        await asyncio.sleep(0.1)
        assert (len(runs(fake)), [each[-1] for each in places]) == (2, [0, 0, 1, 2])
        clock.now += 1
        assert all(reply.text for reply in await asyncio.gather(*pending))
    assert [each[0] for each in places] == [0, 0, 1, 2]
    assert [each[-1] for each in places] == [0, 0, 0, 0]


async def test_a_cancelled_wait_sends_no_request(fake: Fake) -> None:
    async with open_router(fake, limiter=RateLimiter(1, 1)) as made:
        await ask(made, "hello")
        waiting = asyncio.create_task(ask(made, "hello"))
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert not made.limiter.has_waiters
    assert len(runs(fake)) == 1


async def test_a_question_that_is_asked_again_is_refused_once(fake: Fake) -> None:
    async with open_router(fake, limiter=RateLimiter(100, 100)) as made:
        for _ in range(2):
            reply = await ask(made, by_model(first="status code=3021 retry_after=0"))
            assert reply.kind is ErrorKind.THROTTLED
        assert len(runs(fake)) == 6
        assert (await ask(made, "hello")).text
        assert await made.limiter.acquire_or_delay(FIRST) == 0


async def test_a_program_is_told_at_once_that_it_was_too_much(fake: Fake) -> None:
    question = ChatRequest([{"role": "user", "content": "hello"}], FIRST, 500)
    refused = ChatRequest(
        [{"role": "user", "content": by_model(first="status code=3021 retry_after=7")}], FIRST, 500
    )
    async with open_router(fake, limiter=RateLimiter(2, 2)) as made:
        for request, least, most, calls in ((refused, 7, 7, 1), (question, 6, 7, 1)):
            began = time.monotonic()
            with pytest.raises(UpstreamError) as raised:
                async with made.stream(request, wait=False) as stream:
                    await anext(stream)
            assert raised.value.kind is ErrorKind.THROTTLED
            assert least <= (raised.value.retry_after or 0) <= most
            assert time.monotonic() - began < 6, "not after the seconds that were named"
            assert len(runs(fake)) == calls


async def test_no_second_call_takes_the_place_of_who_waits(fake: Fake) -> None:
    async with open_router(fake, limiter=RateLimiter(2, 2)) as made:
        assert (await ask(made, by_model(first="status code=3040"))).kind is ErrorKind.BUSY
    assert len(runs(fake)) == 2, "of three that it would have been"


# Other models.


@pytest.mark.parametrize(
    ("scenario", "fallback_reason", "calls"),
    [
        ("status code=3040", "busy", ["first", "second"]),
        ("status code=3046", "timeout", ["first", "first", "first", "second"]),
        ("status code=7009", "unavailable", ["first", "first", "first", "second"]),
        ("status code=3021", "throttled", ["first", "second"]),
        ("status code=5028", "unknown_model", ["first", "second"]),
    ],
)
async def test_another_model_answers_in_its_place(
    fake: Fake, scenario: str, fallback_reason: str, calls: list[str]
) -> None:
    async with open_router(fake, SECOND.id, THIRD.id) as made:
        reply = await ask(made, by_model(first=scenario))
    assert reply.text.split() == ["word1", "word2", "word3"]
    assert (reply.model, reply.fallback_reason) == (SECOND, fallback_reason)
    assert reply.complete
    assert reply.request_id.endswith("-FRA")
    assert models(fake) == calls


async def test_fallbacks_in_order_and_the_first_error_is_reported(fake: Fake) -> None:
    question = by_model(first="status code=3040", second="status code=3021", third="status code=7009")
    async with open_router(fake, FIRST.id, SECOND.id, "@cf/gone/gone", THIRD.id) as made:
        reply = await ask(made, question)
    assert (reply.kind, reply.model, reply.fallback_reason) == (ErrorKind.BUSY, FIRST, "")
    assert models(fake) == ["first", "second", "third", "third", "third"]


async def test_a_model_that_is_left_alone_is_replaced_at_once(fake: Fake) -> None:
    async with open_router(fake, SECOND.id, breaker=lambda: CircuitBreaker(failures=1)) as made:
        for _ in range(3):
            reply = await ask(made, by_model(first="status code=3040"))
            assert (reply.model, reply.fallback_reason) == (SECOND, "busy")
    assert models(fake) == ["first", "second", "second", "second"]


async def test_the_last_in_the_row_may_wait_in_the_models_own_queue(fake: Fake) -> None:
    async with open_router(fake, SECOND.id) as made:
        await ask(made, by_model(first="status code=3040"))
    first, second = (call["body"] for call in runs(fake))
    assert first["options"] == {"rejectIfBusy": True}
    assert "options" not in second


async def test_another_model_is_told_what_it_knows_of_what_was_chosen(fake: Fake) -> None:
    async with open_router(fake, KNOWING.id) as made:
        await ask(made, by_model(first="status code=3040"), user_parameters={"top_p": 0.5, "top_k": 7})
    first, second = (call["body"] for call in runs(fake))
    assert [(body["top_p"], body.get("top_k")) for body in (first, second)] == [(0.5, None), (0.5, 7)]


@pytest.mark.parametrize(("model", "fallback"), [(FIRST, FIRST), (ABROAD, SECOND)])
async def test_without_another_model_or_elsewhere_it_is_not_impatient(
    fake: Fake, model: LlmModel, fallback: LlmModel
) -> None:
    async with open_router(fake, fallback.id) as made:
        reply = await ask(made, "hello", model)
    assert (reply.model, reply.fallback_reason) == (model, "")
    assert "options" not in fake.calls[-1]["body"]


async def test_a_restricted_model_is_no_fallback(fake: Fake) -> None:
    few = Catalog([FIRST, SECOND, THIRD], FIRST.id, groups={SECOND.id: frozenset({7})})
    async with open_router(fake, SECOND.id, THIRD.id, catalog=few) as made:
        reply = await ask(made, by_model(first="status code=3040"))
    assert (reply.model, models(fake)) == (THIRD, ["first", "third"])


async def test_the_prompt_is_cut_to_the_fallbacks_window(fake: Fake) -> None:
    turns = [{"role": role, "content": "word " * 2_000} for role in ("user", "assistant") * 3]
    request = ChatRequest(
        [*turns, {"role": "user", "content": by_model(first="status code=3040")}], FIRST, 6_000
    )
    async with open_router(fake, SECOND.id) as made, made.stream(request) as stream:
        async for _ in stream:
            pass
    first, second = (call["body"] for call in runs(fake))
    assert (len(first["messages"]), len(second["messages"])) == (7, 1)
    assert second["messages"] == first["messages"][-1:]
    assert (first["max_tokens"], second["max_tokens"]) == (6_000, SECOND.window // 2)


TOOL = {"type": "function", "function": {"name": "look", "description": "d" * 15_000}}
CALLS = [
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "a", "function": {"name": "look", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "a", "name": "look", "content": "Nothing."},
]


@pytest.mark.parametrize(
    ("fallback", "following", "sent"),
    [
        (SECOND, [], {"messages": 1, "tools": False}),  # it answers without
        (SECOND, CALLS, None),
        (CALLING, [], {"messages": 1, "tools": True}),
        (CALLING, CALLS, {"messages": 3, "tools": True}),  # the question stays with its calls
    ],
)
async def test_a_fallback_gets_what_it_understands_of_tools(
    fake: Fake, fallback: LlmModel, following: list[dict[str, Any]], sent: dict[str, Any] | None
) -> None:
    turns = [{"role": role, "content": "word " * 4_000} for role in ("user", "assistant")]
    question = {"role": "user", "content": by_model(first="status code=3040")}
    raw = {"tools": [TOOL]}
    request = ChatRequest([*turns, question, *following], FIRST, 4_000, raw_parameters=raw)
    async with open_router(fake, fallback.id) as made:
        try:
            async with made.stream(request) as stream:
                async for _ in stream:
                    pass
        except UpstreamError:
            assert sent is None
    first, *others = (call["body"] for call in runs(fake))
    found = [{"messages": len(each["messages"]), "tools": "tools" in each} for each in others]
    assert (len(first["messages"]), found) == (3 + len(following), [sent] if sent else [])
    assert all(5_000 * ("tools" in each) + each["max_tokens"] <= fallback.window for each in others)


async def test_fallback_with_a_too_small_window_is_skipped(fake: Fake) -> None:
    question = f"{by_model(first='status code=3040')}\n{'word ' * 8_000}"
    async with open_router(fake, SECOND.id) as made:
        assert (await ask(made, question)).kind is ErrorKind.BUSY
    assert models(fake) == ["first"]


@pytest.mark.parametrize(
    ("scenario", "kind"),
    [
        ("status code=5006", ErrorKind.INVALID),
        ("status code=5021", ErrorKind.TOO_LONG),
        ("status code=2016", ErrorKind.BLOCKED),
        ("status code=10000", ErrorKind.AUTH),
        ("status code=5035", ErrorKind.NOT_PERMITTED),
        ("status code=2021", ErrorKind.CREDITS),
        ("instream_error after=2", ErrorKind.BUSY),
        ("cut after=2 how=reset", ErrorKind.INTERRUPTED),
    ],
)
async def test_no_fallback_if_useless_or_after_the_first_text(
    fake: Fake, scenario: str, kind: ErrorKind
) -> None:
    async with open_router(fake, SECOND.id) as made:
        reply = await ask(made, by_model(first=scenario))
    assert (reply.kind, reply.model) == (kind, FIRST)
    assert models(fake) == ["first"]


async def test_a_model_that_says_nothing_in_time_is_replaced(fake: Fake) -> None:
    # As long as the other one needs on a busy machine.
    async with open_router(fake, SECOND.id, timeouts=Timeouts(silence=2)) as made:
        reply = await ask(made, by_model(first="hang before=headers"))
    assert (reply.model, reply.fallback_reason) == (SECOND, "timeout")
    fake.wait_for(lambda calls: calls[0]["closed_by_client"])


async def test_a_deadline_between_tokens_is_the_answers_own_end(fake: Fake) -> None:
    async with open_router(fake, SECOND.id, timeouts=Timeouts(silence=0.3)) as made:
        reply = await ask(made, by_model(first="hang after=2 delay=0"))
    assert (reply.kind, reply.text.split()) == (ErrorKind.TIMEOUT, ["word1", "word2"])
    assert models(fake) == ["first"]


async def test_a_reply_that_goes_on_has_one_author(fake: Fake) -> None:
    question = [{"role": "user", "content": by_model(first="status code=7009")}]
    async with open_router(fake, SECOND.id) as made:
        stream = made.stream(ChatRequest(question, FIRST, 500), allow_fallback=False)
        with pytest.raises(UpstreamError):
            async with stream:
                await anext(stream)
    assert models(fake) == ["first"] * 3


async def test_the_local_model_has_no_fallback(fake: Fake) -> None:
    async with open_router(fake, SECOND.id) as made:
        assert made.fallbacks_for(HERE) == []
        assert made.fallbacks_for(FIRST) == [SECOND]


# Requests in the background.


@pytest.mark.parametrize(
    "scenario", ["status code=3040", "status code=7009", "json shape=empty", "cut after=0"]
)
async def test_a_background_request_is_sent_once(fake: Fake, scenario: str) -> None:
    async with open_router(fake, SECOND.id) as made:
        reply = await ask(made, f"fake: {scenario}", background=True)
        assert reply.error
        assert models(fake) == ["first"]
        assert runs(fake)[0]["body"]["options"] == {"rejectIfBusy": True}


async def test_a_busy_background_request_opens_no_breaker(fake: Fake) -> None:
    async with open_router(fake) as made:
        for _ in range(FAILURE_THRESHOLD + 1):
            await ask(made, "fake: status code=3040", background=True)
        assert (await ask(made, "hello")).complete


async def test_a_background_request_takes_no_trial(fake: Fake) -> None:
    clock = Clock()
    async with open_router(fake, breaker=lambda: CircuitBreaker(failures=1, clock=clock)) as made:
        await ask(made, "fake: status code=7009")
        clock.now += 60
        before = len(models(fake))
        assert (await ask(made, "hello", background=True)).error
        assert len(models(fake)) == before
        assert (await ask(made, "hello")).complete
        assert (await ask(made, "hello", background=True)).complete
