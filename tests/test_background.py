"""Tasks in the background: what fails does not end what repeats, and nothing of a request goes with them."""

import asyncio
import contextvars
import logging

import pytest
from django.db import OperationalError

from chat.background import BackgroundTasks, spawn
from tests.support.waiting import becomes

REQUEST = contextvars.ContextVar("REQUEST", default="none")


async def test_a_task_begins_in_an_empty_context() -> None:
    async def read() -> str:
        return REQUEST.get()

    REQUEST.set("mine")
    assert await asyncio.create_task(read()) == "mine"
    assert await spawn(read()) == "none"


@pytest.mark.parametrize("error", [ValueError("odd"), OperationalError("away")])
async def test_a_step_that_fails_is_logged_and_repeated(
    caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    steps = 0

    async def step() -> None:
        nonlocal steps
        steps += 1
        raise error

    tasks = BackgroundTasks()
    tasks.repeat(step, lambda: 0.001, "the round")
    await becomes(lambda: steps >= 3)
    await tasks.cancel()
    first = caplog.records[0]
    assert "the round" in first.message
    assert first.levelno == (logging.ERROR if isinstance(error, ValueError) else logging.WARNING)


async def test_cancelled_tasks_are_over_and_forgotten() -> None:
    tasks = BackgroundTasks()
    waiting = tasks.start(asyncio.sleep(60), "sleeper")
    assert (len(tasks), waiting.get_name()) == (1, "sleeper")
    await tasks.wait(0.01)
    await tasks.cancel()
    assert waiting.cancelled()
    assert len(tasks) == 0
