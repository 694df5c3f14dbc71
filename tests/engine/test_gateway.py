"""A gateway's word on each run: stored with the ending, shown, and answered with the person's thumb."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.fake_cloudflare.server import NO_THUMBS, Fake
from tests.support.people import CSRF, PASSWORD
from tests.support.server import Person, Server, Stream
from tests.views.trees import ask_to_end

ROWS = "SELECT gateway, gateway_log, gateway_cached, gateway_step FROM chat_run ORDER BY created"


def told(server: Server) -> list[tuple[Any, ...]]:
    rows = server.database.rows(ROWS)
    return [(gateway, bool(log), bool(cached), step) for gateway, log, cached, step in rows]


@pytest.fixture
def team(servers: Callable[..., Server]) -> Server:
    return servers(AI_GATEWAY_ID="team", AI_GATEWAY_CACHE_TTL="600")


@pytest.fixture
def alice(team: Server) -> Person:
    return team.person("alice")


def test_how_it_came_is_stored_and_said(team: Server, alice: Person) -> None:
    first, again = ask_to_end(alice, "fake: words tokens=2"), ask_to_end(alice, "fake: words tokens=2")
    third, failed = ask_to_end(alice, "fake: fallback step=2"), ask_to_end(alice, "fake: status code=2016")
    assert told(team) == [
        ("team", True, False, None),
        ("team", True, True, None),
        ("team", True, False, 2),
        ("team", True, False, None),
    ]
    ends = [stream.done or {} for stream in (first, again, third, failed)]
    assert [(end.get("cached"), end.get("fallback")) for end in ends] == [
        (None, None), (True, None), (None, 2), (None, None)
    ]  # fmt: skip
    with alice.follow(again.run) as late:
        assert late.to_end().done == again.done
    assert "from a cache" in facts(alice, again)
    assert "fallback 2" in facts(alice, third)
    assert "cache" not in facts(alice, first)
    assert "fallback" not in facts(alice, first)


def facts(person: Person, stream: Stream) -> str:
    page = person.get(f"/c/{stream.conversation}/").text
    found = re.search(r'<details class="reply-meta".*?</details>', page, re.DOTALL)
    assert found
    return found[0]


def test_whom_a_route_chose_is_stored_and_said(servers: Callable[..., Server]) -> None:
    server = servers(AI_GATEWAY_ID="team", GATEWAY_MODELS="dynamic/cheap,cloudflare/auto")
    alice = server.person("alice")
    stream = alice.asked("fake: words tokens=2", model="dynamic/cheap")
    assert stream.done
    assert (stream.done["status"], stream.done["served_by"]) == ("complete", "openai/gpt-5-mini")
    assert server.database.rows("SELECT model, served_by FROM chat_run") == [
        ("dynamic/cheap", "openai/gpt-5-mini")
    ]
    assert "by openai/gpt-5-mini" in facts(alice, stream)


def test_a_reply_that_was_stopped_is_in_the_log_as_well(team: Server, alice: Person) -> None:
    with alice.ask("fake: words tokens=500 delay=0.05") as stream:
        stream.until(5)
        alice.stop(stream.run)
        stream.to_end()
    assert told(team) == [("team", True, False, None)]


def test_a_programs_call_is_in_the_log_as_well(team: Server, alice: Person) -> None:
    key = alice.post("/settings/keys/", {"name": "a program", "run": True, "password": PASSWORD}).json()[
        "key"
    ]
    question = {"role": "user", "content": "fake: words tokens=2"}
    body = {"model": "@cf/zai-org/glm-4.7-flash", "messages": [question]}
    response = alice.post("/v1/chat/completions", body, headers={"Authorization": f"Bearer {key}"})
    assert response.status_code == 200
    [(gateway, log)] = team.database.rows("SELECT gateway, gateway_log FROM chat_call")
    assert gateway == "team"
    assert f"/gateways/team/logs/{log}" in team.person("root").get("/admin/chat/call/").text


def test_without_a_gateway_there_is_nothing_to_store(server: Server) -> None:
    ask_to_end(server.person("alice"), "fake: words tokens=2")
    assert told(server) == [("", False, False, None)]


def rated(fake: Fake) -> list[tuple[str, Any]]:
    calls = [call for call in fake.calls if call["method"] == "PATCH"]
    return [(call["path"].rpartition("/")[2], call["body"]["feedback"]) for call in calls]


def test_a_thumb_reaches_the_gateway_as_it_is_turned(team: Server, alice: Person, fake: Fake) -> None:
    reply = ask_to_end(alice, "fake: words tokens=2").meta["message"]
    (log,) = [row[1] for row in team.database.rows(ROWS)]
    for thumb in ("up", "down", "none"):
        assert alice.post(f"/messages/{reply}/feedback/", {"thumb": thumb}).status_code == 200
    form = {"csrfmiddlewaretoken": CSRF, "thumb": "up"}
    assert alice.client.post(f"/messages/{reply}/feedback/", data=form).status_code == 303
    fake.wait_for(lambda calls: len(rated(fake)) == 4)
    assert rated(fake) == [(log, 1), (log, -1), (log, None), (log, 1)]


def test_every_part_of_a_reply_is_rated(team: Server, alice: Person, fake: Fake) -> None:
    reply = ask_to_end(alice, "fake: length tokens=3").meta["message"]
    alice.started(f"/messages/{reply}/continue/")
    alice.post(f"/messages/{reply}/feedback/", {"thumb": "up"})
    fake.wait_for(lambda calls: len(rated(fake)) == 2)
    assert sorted(rated(fake)) == sorted((row[1], 1) for row in team.database.rows(ROWS))


def test_a_gateway_that_takes_no_thumbs_is_told_to_the_log_once(
    servers: Callable[..., Server], fake: Fake
) -> None:
    server = servers(AI_GATEWAY_ID=NO_THUMBS)
    alice = server.person("alice")
    reply = ask_to_end(alice, "fake: words tokens=2").meta["message"]
    for thumb in ("up", "down", "up"):
        response = alice.post(f"/messages/{reply}/feedback/", {"thumb": thumb})
        assert response.json() == {"message": reply, "thumb": thumb, "reason": ""}
    fake.wait_for(lambda calls: len(rated(fake)) == 3)
    assert server.terminate() == 0, "and what they were answered is told before it ends"
    assert server.log.read_text().count("does not accept ratings") == 1
    assert server.database.rows("SELECT up FROM chat_feedback")


def test_where_no_gateway_is_no_thumb_leaves(server: Server, fake: Fake) -> None:
    alice = server.person("alice")
    reply = ask_to_end(alice, "fake: words tokens=2").meta["message"]
    assert alice.post(f"/messages/{reply}/feedback/", {"thumb": "up"}).status_code == 200
    assert server.terminate() == 0, "and it sends what is left before it ends"
    assert rated(fake) == []
