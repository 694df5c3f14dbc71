"""The build of the index in the background, while the database is away."""

from typing import Any

from django.db import OperationalError

from chat.search import build


async def test_an_outage_is_logged_once_until_the_database_works_again(caplog: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(build, "RETRY_SECONDS", 0.001)
    away = OperationalError("away")
    steps = iter([3, away, away, away, 2, away, away, None])

    async def take_step() -> int | None:
        made = next(steps)
        if isinstance(made, OperationalError):
            raise made
        return made

    await build.repeat_until_complete(take_step)
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert next(steps, "complete") == "complete"
