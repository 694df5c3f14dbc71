"""Replies that wait for the person: questions whose model asks first, and answers."""

from typing import Any

from tests.fake_cloudflare.tool_scenarios import turns_line
from tests.support.server import Person, Server, Stream

MINE: dict[str, Any] = {"tools": ["web_search"]}


def reads(url: str, *more: dict[str, Any], before: str = "I look.", after: str = "Of ash [1].") -> str:
    return turns_line({"text": before, "calls": [["read_page", {"url": url}]]}, *more, {"text": after})


def until_waiting(stream: Stream, number: int = 1) -> None:
    while (number, "waiting") not in [(step["n"], step["state"]) for step in stream.steps]:
        assert stream.next()


def status(server: Server, run: str) -> str:
    return str(server.database.value(f"SELECT status FROM chat_run WHERE id = '{server.database.key(run)}'"))


def is_released(server: Server, run: str) -> bool:
    where = f"id = '{server.database.key(run)}' AND status = 'waiting' AND worker_id IS NULL"
    return bool(server.database.value(f"SELECT COUNT(*) FROM chat_run WHERE {where}"))


def answered(person: Person, run: str, number: int = 1, word: str = "allow", **body: Any) -> None:
    response = person.post(f"/runs/{run}/steps/{number}/{word}/", body)
    assert response.status_code == 202, response.text
