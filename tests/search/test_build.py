"""The build of the index in the background, while the database is away."""

from typing import Any

from django.db import OperationalError

from chat.search import build


async def test_an_outage_is_logged_once_until_the_database_works_again(caplog: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(build, "BUILD_RETRY_SECONDS", 0.001)
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


def test_only_beside_servers_it_rests_between_steps(monkeypatch: Any) -> None:
    rests: list[float] = []
    monkeypatch.setattr(build.time, "sleep", rests.append)
    for runs, expected in ((False, 0), (True, 2)):
        steps = iter([3, 2, None])
        monkeypatch.setattr(build, "step", lambda steps=steps: next(steps))
        added: list[int] = []
        build.build(added.append, beside_servers=lambda runs=runs: runs)
        assert added == [3, 2]
        assert len(rests) == expected
