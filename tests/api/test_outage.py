"""Outcomes of calls while the database is away."""

import logging
from typing import Any

import pytest
from django.db import OperationalError
from django.test import AsyncClient

from chat.db.executor import run_in_db
from chat.engine.engine import Engine
from chat.engine.generation import api_calls
from chat.models import Call
from tests.api.client import CHAT, question
from tests.api.in_process import bearer, engine
from tests.support.waiting import PATIENCE, becomes

__all__ = ["engine"]
pytestmark = pytest.mark.django_db(transaction=True)


async def test_an_outage_is_logged_once_and_the_outcome_is_stored(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    headers, attempts, save_call = await run_in_db(bearer), 0, api_calls.save_call

    def save_later(*args: Any) -> None:
        nonlocal attempts
        attempts += 1
        if attempts < 9:
            raise OperationalError
        save_call(*args)

    monkeypatch.setattr(api_calls, "save_call", save_later)
    monkeypatch.setattr(api_calls, "STORE_RETRY_SECONDS", 0.01)
    with caplog.at_level(logging.INFO, "chat.db.background"):
        response = await AsyncClient().post(CHAT, question("hello"), "application/json", headers=headers)
        assert response.status_code == 200
        await becomes(lambda: attempts == 9)
        await engine.api_calls.tasks.wait(PATIENCE)
    assert await run_in_db(Call.objects.filter(status="complete").count) == 1
    storing = [record for record in caplog.records if "outcomes of API calls" in record.getMessage()]
    assert [record.levelname for record in storing] == ["ERROR", "INFO"]
