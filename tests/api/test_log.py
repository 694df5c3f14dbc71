"""Each call is in the log, however it ends; where its key says so, it is a conversation too."""

import http.client
import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.api.client import CHAT, MODEL, RUN, Program, question
from tests.engine.access_check import ONE_CHECK
from tests.fake_cloudflare.server import Fake
from tests.support.databases import Database
from tests.support.people import CSRF, PASSWORD
from tests.support.server import Server
from tests.support.waiting import until

pytestmark = pytest.mark.database
NEW = "a lighthouse by the sea"
COLUMNS = "status, dialect, streamed, model, completion_tokens, error_code, finish_reason"
LAST = f"SELECT {COLUMNS} FROM chat_call ORDER BY created DESC LIMIT 1"


def last(database: Database, status: str = "") -> tuple[Any, ...]:
    """The newest call's row; waits until it has that status."""
    until(lambda: not status or database.rows(LAST)[0][0] == status)
    row = database.rows(LAST)[0]
    return (*row[:2], bool(row[2]), *row[3:])


def test_calls_that_end_well(alices: Program, database: Database) -> None:
    alices.chat("fake: words tokens=3 delay=0")
    assert last(database) == ("complete", "openai", False, MODEL, 3, "", "stop")
    with alices.stream(f"{RUN}/{MODEL}", {"prompt": "fake: length tokens=2 delay=0"}) as events:
        list(events)
    assert last(database) == ("truncated", "workers_ai", True, MODEL, 2, "", "length")
    row = database.rows(
        "SELECT c.request_id, c.finished >= c.first_token, c.neurons, k.last_used IS NOT NULL, u.username "
        "FROM chat_call c JOIN chat_apikey k ON k.id = c.key_id JOIN chat_user u ON u.id = c.user_id "
        "ORDER BY c.created DESC LIMIT 1"
    )[0]
    assert row[0].endswith("-FRA")
    assert row[1:] == (1, row[2], 1, "alice")
    assert row[2] > 0


def test_calls_that_do_not(alices: Program, database: Database) -> None:
    alices.chat("fake: status code=3036")
    assert last(database)[::5] == ("failed", "quota")
    alices.chat("fake: cut after=2 delay=0")
    assert last(database)[::5] == ("interrupted", "interrupted")


def test_a_last_use_is_written_once_a_minute(program: Callable[..., Program], database: Database) -> None:
    fresh = program(name="fresh")
    used = "SELECT last_used FROM chat_apikey WHERE name = 'fresh'"
    assert database.value(used) is None
    fresh.chat("hello")
    first = database.value(used)
    assert first
    fresh.chat("hello")
    assert database.value(used) == first


@pytest.mark.parametrize("streamed", [True, False])
def test_closing_the_connection_stops_the_model(
    server: Server, alices: Program, database: Database, fake: Fake, streamed: bool
) -> None:
    before = len(fake.calls)
    endless = question("fake: words tokens=4000 delay=0.02", stream=streamed)
    if streamed:
        with alices.client.stream("POST", CHAT, json=endless) as response:
            next(response.iter_raw())
    else:
        caller = http.client.HTTPConnection("127.0.0.1", server.port)
        caller.request("POST", CHAT, json.dumps(endless), {"Authorization": f"Bearer {alices.key}"})
        fake.wait_for(lambda calls: len(calls) > before)
        caller.close()
    fake.wait_for(lambda calls: len(calls) > before and calls[-1]["closed_by_client"])
    assert last(database, "stopped")[:2] == ("stopped", "openai")


@pytest.mark.parametrize("how", ["revoked", "expired", "disabled", "new password"])
def test_revoking_the_key_ends_the_stream_within_five_seconds(
    server: Server, program: Callable[..., Program], database: Database, how: str
) -> None:
    losing, other = program("carol"), program("alice")
    body = question("fake: words tokens=4000 delay=0.02")
    with losing.stream(CHAT, body) as events, other.stream(CHAT, body) as others:
        chunks, still = iter(events), iter(others)
        next(chunks)
        next(still)
        if how == "revoked":
            assert server.person("carol").post(f"/settings/keys/{losing.id}/revoke/").status_code == 200
        elif how == "expired":
            database.rows(
                "UPDATE chat_apikey SET expires = '2020-01-01 00:00:00+00:00' "
                f"WHERE id IN ('{losing.id}', '{losing.id.replace('-', '')}')"
            )
        elif how == "new password":
            form = {
                "current": PASSWORD,
                "new_password1": NEW,
                "new_password2": NEW,
                "csrfmiddlewaretoken": CSRF,
            }
            assert server.person("carol").client.post("/accounts/password/", data=form).status_code == 302
        else:
            database.rows("UPDATE chat_user SET is_active = false WHERE username = 'carol'")
        lost = time.monotonic()
        rest = list(chunks)
        assert time.monotonic() - lost < ONE_CHECK
        assert rest[-1]["error"]["code"] == "invalid_api_key"
        assert not events.done
        assert losing.chat("hello").status_code == 401
        assert [next(still) for _ in range(5)]
    database.rows("UPDATE chat_user SET is_active = true WHERE username = 'carol'")
    assert database.value("SELECT COUNT(*) FROM chat_call WHERE error_code = 'revoked'") > 0


def test_a_kept_call_is_a_conversation_of_its_person(
    server: Server, program: Callable[..., Program], database: Database
) -> None:
    keeping = program("alice", keep="conversations")
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "An **earlier** question"},
        {"role": "assistant", "content": "An earlier reply"},
        {"role": "user", "content": "And this?\nfake: reasoning think=2 tokens=3 delay=0"},
    ]
    body = {"model": MODEL, "messages": messages}
    with keeping.stream(CHAT, body) as events:
        list(events)
    key = database.value("SELECT r.conversation_id FROM chat_call c JOIN chat_run r ON r.id = c.run_id")
    alice, erin = server.person("alice"), server.person("erin")
    listed = re.search(r"/c/([0-9a-f-]{36})/", alice.get("/").text)
    assert listed
    assert listed[1].replace("-", "") == str(key).replace("-", "")
    page = alice.get(f"/c/{listed[1]}/").text
    for text in ("An **earlier** question", "An earlier reply", "word1 word2 word3", "thought1 thought2"):
        assert text in page
    assert server.person("bob").get(f"/c/{listed[1]}/").status_code == 404
    review = erin.get(f"/admin/chat/conversation/{listed[1]}/change/").text
    assert "word1 word2 word3" in review
    assert "Be kind." in review
    stream = alice.asked("And on the page?", f"/c/{listed[1]}/messages/")
    assert stream.done
    assert stream.done["status"] == "complete"


def test_a_kept_call_shows_its_tools(server: Server, program: Callable[..., Program], fake: Fake) -> None:
    keeping = program("alice", keep="conversations")
    keeping.chat(
        "Which weather?\nfake: tools delay=0", tools=[{"type": "function", "function": {"name": "weather"}}]
    )
    listed = re.search(r"/c/([0-9a-f-]{36})/", server.person("alice").get("/").text)
    assert listed
    page = server.person("alice").get(f"/c/{listed[1]}/").text
    assert "Which weather?" in page
    assert "Oslo" in page


def test_a_key_for_the_usage_keeps_no_words(alices: Program, database: Database) -> None:
    before = database.value("SELECT COUNT(*) FROM chat_message")
    alices.chat("an unusual secret")
    assert database.value("SELECT COUNT(*) FROM chat_message") == before
    assert "unusual" not in json.dumps(database.rows("SELECT * FROM chat_call"), default=str)


def test_administrators_see_the_calls(server: Server, alices: Program) -> None:
    alices.chat("fake: status code=3036")
    page = server.person("root").get("/admin/chat/call/").text
    assert MODEL in page
    assert "quota" in page
