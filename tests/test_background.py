"""Tasks in the background: what fails does not end what repeats, and nothing of a request goes with them."""

import asyncio
import contextvars
import logging

import pytest
from django.db import InterfaceError, OperationalError

from chat.db.background import BackgroundTasks, FailureLog, spawn
from tests.support.waiting import becomes

REQUEST = contextvars.ContextVar("REQUEST", default="none")


async def test_a_task_begins_in_an_empty_context() -> None:
    async def read() -> str:
        return REQUEST.get()

    REQUEST.set("mine")
    assert await asyncio.create_task(read()) == "mine"
    assert await spawn(read()) == "none"


@pytest.mark.parametrize("error", [ValueError("odd"), OperationalError("away")])
async def test_an_outage_of_a_repeated_step_is_logged_once(
    caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    steps = 0

    async def step() -> None:
        nonlocal steps
        steps += 1
        if steps <= 3:
            raise error

    caplog.set_level(logging.INFO)
    tasks = BackgroundTasks()
    tasks.repeat(step, lambda: 0.001, "the round")
    await becomes(lambda: steps >= 6)
    await tasks.cancel()
    begin, end = caplog.records
    assert begin.message.startswith("the round failed")
    assert begin.levelno == (logging.ERROR if isinstance(error, ValueError) else logging.WARNING)
    assert end.message == "the round works again after 3 failures"


async def test_another_kind_of_failure_is_logged_at_once(caplog: pytest.LogCaptureFixture) -> None:
    log = FailureLog("the round")
    for error in (OperationalError(), InterfaceError(), ValueError(), ValueError(), KeyError()):
        log.failed(error)
    assert [record.exc_info[0] if record.exc_info else None for record in caplog.records] == [
        None, ValueError, KeyError,
    ]  # fmt: skip


async def test_a_second_outage_is_logged_too(caplog: pytest.LogCaptureFixture) -> None:
    log = FailureLog("the round")
    for _ in range(2):
        log.failed(OperationalError())
        log.succeeded()
        log.succeeded()
    assert [record.levelno for record in caplog.records].count(logging.WARNING) == 2


async def test_cancelled_tasks_are_over_and_forgotten() -> None:
    tasks = BackgroundTasks()
    waiting = tasks.start(asyncio.sleep(60), "sleeper")
    assert (len(tasks), waiting.get_name()) == (1, "sleeper")
    await tasks.wait(0.01)
    await tasks.cancel()
    assert waiting.cancelled()
    assert len(tasks) == 0
