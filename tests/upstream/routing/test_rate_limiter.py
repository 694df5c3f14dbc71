"""Requests beyond a minute's limit wait in a queue, over all processes."""

import asyncio
import time
import uuid

import pytest

from chat.upstream.catalog import LlmModel
from chat.upstream.routing import rate_limiter as limits
from chat.upstream.routing import redis_rate_limiter
from chat.upstream.routing.rate_limiter import RateLimiter, ignore_position
from chat.upstream.routing.redis_rate_limiter import RedisRateLimiter
from tests.support.server import free_port
from tests.support.waiting import PATIENCE, becomes
from tests.upstream.routing.clock import Clock

FREE = LlmModel("@cf/a/free", "Free", window=8_000)
OTHER = LlmModel("@cf/a/other", "Other", window=8_000)
PAID = LlmModel("@cf/a/paid", "Paid", window=8_000, paid=True)


async def entered(limiter: RateLimiter, model: LlmModel = FREE) -> int:
    """Return the number of requests that are admitted at once."""
    count = 0
    while await limiter.try_acquire(model):
        count += 1
    return count


async def test_the_limit_holds_for_all_models_together() -> None:
    limiter = RateLimiter(5, 2)
    assert await entered(limiter, PAID) == 2
    assert await entered(limiter, FREE) == 3
    assert await entered(limiter, OTHER) == 0


@pytest.mark.parametrize(("processes", "places"), [(1, 10), (4, 2), (100, 1)])
async def test_each_process_keeps_to_its_share(processes: int, places: int) -> None:
    assert await entered(RateLimiter(10, 2, processes=lambda: processes)) == places


async def test_places_come_back_when_the_window_has_passed() -> None:
    clock = Clock()
    limiter = RateLimiter(2, 1, clock=clock)
    assert await entered(limiter) == 2
    clock.now += 59
    assert await entered(limiter) == 0
    clock.now += 1
    assert await entered(limiter) == 2


async def test_waiters_keep_their_order_and_know_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RECHECK_SECONDS", 0.01)
    clock = Clock()
    limiter = RateLimiter(1, 1, clock=clock)
    assert await limiter.try_acquire(FREE)
    order: list[str] = []
    places: dict[str, list[int]] = {"first": [], "second": []}

    async def wait(name: str) -> None:
        await limiter.acquire(FREE, places[name].append)
        order.append(name)

    waiting = asyncio.gather(wait("first"), wait("second"))
    for names in ([], ["first"], ["first", "second"]):
        await becomes(lambda names=names: order == names)
        await asyncio.sleep(0.05)
        assert order == names, "each waits for a minute of its own"
        clock.now += 60
    await waiting
    assert [places["first"][0], places["second"][0]] == [1, 2]
    assert places["first"][-1] == places["second"][-1] == 0
    assert not limiter.has_waiters


async def test_a_waiter_that_leaves_delays_no_other() -> None:
    limiter = RateLimiter(1, 1, window=0.3)
    await limiter.acquire(FREE, ignore_position)
    waiting = [asyncio.create_task(limiter.acquire(FREE, ignore_position)) for _ in range(3)]
    await asyncio.sleep(0.05)
    for task in waiting[:2]:
        task.cancel()
    await asyncio.wait_for(waiting[2], PATIENCE)
    assert not limiter.has_waiters


async def test_the_line_of_a_paid_model_holds_up_no_other() -> None:
    limiter = RateLimiter(10, 1)
    await limiter.acquire(PAID, ignore_position)
    waiting = asyncio.create_task(limiter.acquire(PAID, ignore_position))
    await asyncio.sleep(0.05)
    # Less than the line's minute.
    await asyncio.wait_for(limiter.acquire(FREE, ignore_position), PATIENCE / 2)
    waiting.cancel()


async def test_a_refusal_of_cloudflare_teaches_the_limit_of_that_model() -> None:
    clock = Clock()
    limiter = RateLimiter(100, 10, clock=clock)
    for _ in range(20):
        await limiter.acquire(FREE, ignore_position)
    for _ in range(3):
        assert await limiter.try_acquire(FREE)
        limiter.record_rate_limited(FREE, None)
    assert await entered(limiter) == 0
    assert await entered(limiter, OTHER) == 77
    clock.now += 60
    assert await entered(limiter) == 20, "so many were taken before the rest was refused"


async def test_three_refusals_do_not_cut_a_model_to_next_to_nothing() -> None:
    clock = Clock()
    limiter = RateLimiter(300, 20, clock=clock)
    for _ in range(3):
        assert await limiter.try_acquire(FREE)
        limiter.record_rate_limited(FREE, None)
    assert await entered(limiter) == 0, "it is left alone for a moment"
    clock.now += limits.HOLD_SECONDS
    assert await entered(limiter) == 27, "a tenth of the limit, with those that were refused"
    limiter = RateLimiter(300, 20, clock=clock)
    for _ in range(3):
        assert await limiter.try_acquire(PAID)
        limiter.record_rate_limited(PAID, 0)
    clock.now += 60
    assert await entered(limiter, PAID) == 2


async def test_a_learned_limit_grows_with_each_accepted_call() -> None:
    clock = Clock()
    limiter = RateLimiter(100, 10, clock=clock)
    for _ in range(3):
        limiter.record_rate_limited(FREE, 0)
    taken = []
    for _ in range(5):
        clock.now += 60
        taken.append(await entered(limiter))
        for _ in range(taken[-1]):
            limiter.record_accepted(FREE)
    assert taken == [10, 20, 40, 80, 100]


async def test_the_time_that_cloudflare_names_is_kept() -> None:
    clock = Clock()
    limiter = RateLimiter(100, 10, clock=clock)
    assert await limiter.try_acquire(FREE)
    limiter.record_rate_limited(FREE, 7)
    assert await limiter.acquire_or_delay(FREE) == 7
    assert await limiter.acquire_or_delay(OTHER) == 0
    clock.now += 7
    assert await limiter.acquire_or_delay(FREE) == 0


async def test_without_waiting_the_delay_is_returned() -> None:
    clock = Clock()
    limiter = RateLimiter(1, 1, clock=clock)
    assert await limiter.acquire_or_delay(FREE) == 0
    clock.now += 20
    assert await limiter.acquire_or_delay(FREE) == 40
    waiting = asyncio.create_task(limiter.acquire(FREE, ignore_position))
    await becomes(lambda: limiter.has_waiters)
    clock.now += 40
    assert await limiter.acquire_or_delay(FREE) >= 1, "nobody goes before those who wait"
    waiting.cancel()


async def test_a_request_may_leave_a_share_of_the_limit_free() -> None:
    limiter = RateLimiter(5, 5)
    assert [await limiter.acquire_or_delay(FREE, 0.8) == 0 for _ in range(5)] == [True] * 4 + [False]
    assert await limiter.acquire_or_delay(FREE) == 0
    smallest = RateLimiter(1, 1)
    assert await smallest.acquire_or_delay(FREE, 0.8) == 0, "no share is less than one request"


async def test_a_refusal_now_and_then_teaches_nothing() -> None:
    limiter = RateLimiter(100, 10)
    for _ in range(3):
        for _ in range(2):
            assert await limiter.try_acquire(FREE)
            limiter.record_rate_limited(FREE, None)
        limiter.record_accepted(FREE)
    assert await entered(limiter) == 94


# With Redis.


@pytest.fixture
def account() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Redis that answers late on a busy machine is waited for."""
    monkeypatch.setattr(redis_rate_limiter, "REDIS_TIMEOUT_SECONDS", PATIENCE)


@pytest.mark.redis
@pytest.mark.usefixtures("patient")
async def test_processes_count_together_in_redis(redis_url: str, account: str) -> None:
    stores = [RedisRateLimiter(redis_url, account) for _ in range(2)]
    one, two = (RateLimiter(5, 2, shared=store, window=3) for store in stores)
    assert await entered(one, PAID) == 2
    assert await entered(two, PAID) == 0
    assert await entered(two) == 3
    assert await entered(one) == 0
    await asyncio.sleep(3.1)
    assert await entered(two) == 5
    for store in stores:
        await store.aclose()


@pytest.mark.redis
@pytest.mark.usefixtures("patient")
async def test_another_account_has_limits_of_its_own(redis_url: str, account: str) -> None:
    stores = [RedisRateLimiter(redis_url, f"{account}{n}") for n in range(2)]
    for store in stores:
        assert await entered(RateLimiter(3, 1, shared=store)) == 3
        await store.aclose()


@pytest.mark.redis
@pytest.mark.usefixtures("patient")
async def test_a_waiter_for_redis_is_admitted_when_a_place_is_free(redis_url: str, account: str) -> None:
    store = RedisRateLimiter(redis_url, account)
    limiter = RateLimiter(1, 1, shared=store, window=2)
    places: list[int] = []
    for _ in range(2):
        await asyncio.wait_for(limiter.acquire(FREE, places.append), PATIENCE)
    assert places == [1, 0]
    await store.aclose()


async def test_without_redis_each_process_counts_for_itself() -> None:
    store = RedisRateLimiter(f"redis://127.0.0.1:{free_port()}/0", "nobody")
    limiter = RateLimiter(5, 2, shared=store)
    began = time.monotonic()
    assert await entered(limiter) == 5
    assert time.monotonic() - began < 5
    await store.aclose()


async def test_an_event_loop_error_counts_as_a_redis_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    """uvloop's own, of a kept connection that Redis has reset since."""
    store = RedisRateLimiter(f"redis://127.0.0.1:{free_port()}/0", "nobody")

    async def closed(*_: object) -> None:
        raise RuntimeError("unable to perform operation on <TCPTransport closed=True>; the handler is closed")

    monkeypatch.setattr(store, "_script", closed)
    assert await store.acquire_or_delay({"account": 5}, 60.0) is None
    await store.aclose()
