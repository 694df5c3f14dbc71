"""Generated titles: one after the first reply, by a small model, and never in place of a person's own."""

import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.fake_cloudflare.server import Fake
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.databases import Database
from tests.support.manage import run_manage
from tests.support.server import Person, Server
from tests.support.waiting import until
from tests.views.trees import ask_to_end

Start = Callable[..., Server]
MODEL = "granite-4.0-h-micro"
FIRST_LINE = "Tell me about boats"
LATEST = "FROM chat_titlerequest ORDER BY created DESC LIMIT 1"
ROW = f"SELECT status, error_code, completion_tokens > 0 {LATEST}"
NO_TITLES = "SELECT COUNT(*) FROM chat_titlerequest"
FAILURES = {
    "status code=3040": ("failed", "busy", None),
    "html http=502": ("failed", "unavailable", None),
    "cut after=2": ("interrupted", "interrupted", True),
    "empty": ("complete", "unusable", False),
    "length tokens=3": ("truncated", "unusable", True),
    "words tokens=30 delay=0": ("complete", "unusable", True),
    "says data=eA== times=10000": ("truncated", "unusable", True),
    "json shape=empty": ("failed", "unavailable", None),
}
HOSTILE = {
    "<script>alert(1)</script>": "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>": "<img src=x onerror=alert(1)>",
    "Red\u202eBoats\x00\x1b[2J": "RedBoats[2J",
    "Red Boats " * 10: FIRST_LINE,
    "Red\nBoats\nBlue": "Red",
    "Red 🚤 Boats": "Red 🚤 Boats",
}


def question(title: str = "", *, scenario: str = "", reply: str = "words tokens=3 delay=0") -> str:
    """A question with the title that the fake's small model answers, or what else it does."""
    scenario = scenario or says_line(title).removeprefix("fake: ")
    return f"{FIRST_LINE}\n\nfake: {reply}\nfake for {MODEL}: {scenario}"


def title_of(database: Database) -> str:
    return database.value("SELECT title FROM chat_conversation ORDER BY created DESC LIMIT 1")


def title_calls(fake: Fake) -> list[dict[str, Any]]:
    return [call for call in fake.calls if call["path"].endswith(MODEL)]


def has_ended(database: Database) -> bool:
    """Return True if no title request is open, and at least one was made."""
    ended = "SELECT COUNT(*), COUNT(finished) FROM chat_titlerequest"
    requested, finished = database.rows(ended)[0]
    return requested == finished > 0


def requests(fake: Fake) -> int:
    return sum(call["method"] == "POST" for call in fake.calls)


@pytest.fixture
def server(servers: Start) -> Server:
    """Start a server with the product's own default."""
    return servers(TITLE_MODEL="")


@pytest.fixture
def alice(server: Server) -> Person:
    return server.person("alice")


@pytest.mark.database
def test_a_small_model_titles_a_conversation(alice: Person, database: Database, fake: Fake) -> None:
    stream = ask_to_end(alice, question("Red Boats") + "\n" + "x" * 5_000)
    until(lambda: title_of(database) == "Red Boats")
    assert database.rows(ROW) == [("complete", "", True)]
    [call] = title_calls(fake)
    read = call["body"]["messages"][-1]["content"]
    assert FIRST_LINE in read
    assert stream.text.strip() in read
    assert len(read) < 3_200
    assert (call["body"]["max_tokens"], call["body"]["temperature"]) == (32, 0.2)
    state = alice.get(f"/c/{stream.conversation}/state/").json()
    assert state["title"] == "Red Boats"
    assert "<title>Red Boats" in alice.get(f"/c/{stream.conversation}/").text


@pytest.mark.database
def test_one_conversation_gets_one_title_request(
    servers: Start, server: Server, alice: Person, database: Database, fake: Fake
) -> None:
    stream = ask_to_end(alice, question("…"))
    until(lambda: has_ended(database))
    assert title_of(database) == FIRST_LINE
    ask_to_end(alice, question("Another"), f"/c/{stream.conversation}/messages/")
    elsewhere = servers(TITLE_MODEL="", apart=True).person("alice")
    again = f"/messages/{stream.meta['message']}/regenerate/"
    edit = f"/messages/{stream.meta['user_message']}/edit/"
    for person, path, fields in ((alice, again, {}), (elsewhere, edit, {"content": question("Another")})):
        person.started(path, **fields)
    server.terminate()
    server.start()
    alice.started(again)
    time.sleep(0.5)
    assert len(title_calls(fake)) == 1
    assert title_of(database) == FIRST_LINE


@pytest.mark.database
def test_a_crash_during_the_request_leaves_the_first_line(
    server: Server, alice: Person, database: Database, fake: Fake
) -> None:
    stream = ask_to_end(alice, question(scenario="held after=0 key=title"))
    fake.wait_for(lambda calls: title_calls(fake))
    server.kill()
    server.start()
    alice.started(f"/messages/{stream.meta['message']}/regenerate/")
    time.sleep(0.5)
    assert len(title_calls(fake)) == 1
    assert title_of(database) == FIRST_LINE
    assert database.value("SELECT status FROM chat_titlerequest") == "interrupted"


@pytest.mark.database
@pytest.mark.parametrize("own", ["My boats", FIRST_LINE])
def test_a_title_chosen_meanwhile_is_kept(alice: Person, database: Database, fake: Fake, own: str) -> None:
    stream = ask_to_end(alice, question(scenario="held after=1 tokens=2 key=title"))
    fake.wait_for(lambda calls: title_calls(fake))
    assert alice.post(f"/c/{stream.conversation}/rename/", {"title": own}).status_code == 200
    fake.go_on("title")
    until(lambda: has_ended(database))
    assert title_of(database) == own
    assert database.rows(ROW) == [("complete", "", True)]


@pytest.mark.database
def test_a_title_chosen_during_the_reply_is_kept(alice: Person, database: Database, fake: Fake) -> None:
    with alice.ask(question("Red Boats", reply="held")) as stream:
        stream.until(5)
        alice.post(f"/c/{stream.conversation}/rename/", {"title": "My boats"})
        fake.go_on()
        stream.to_end()
    time.sleep(0.5)
    assert (title_of(database), database.value(NO_TITLES), title_calls(fake)) == ("My boats", 0, [])


@pytest.mark.database
def test_no_failure_leads_to_a_second_request(alice: Person, database: Database, fake: Fake) -> None:
    for number, (scenario, row) in enumerate(FAILURES.items(), 1):
        ask_to_end(alice, question(scenario=scenario))
        until(lambda number=number: database.value(NO_TITLES) == number and has_ended(database))
        assert database.rows(ROW) == [row], scenario
        assert title_of(database) == FIRST_LINE
    time.sleep(0.3)
    assert len(title_calls(fake)) == len(FAILURES)


def test_reasoning_is_no_title(alice: Person, database: Database) -> None:
    ask_to_end(alice, question(scenario="reasoning think=3 text=Boats"))
    until(lambda: title_of(database) == "Boats")


@pytest.mark.database
def test_a_title_delays_neither_a_reply_nor_the_next(alice: Person, database: Database, fake: Fake) -> None:
    stream = ask_to_end(alice, question(scenario="held after=0 key=title"))
    assert stream.finished
    fake.wait_for(lambda calls: title_calls(fake))
    more = ask_to_end(alice, "fake: words tokens=2 delay=0", f"/c/{stream.conversation}/messages/")
    assert more.done
    assert more.done["status"] == "complete"
    assert database.value("SELECT COUNT(*) FROM chat_run WHERE worker_id IS NOT NULL") == 0


@pytest.mark.database
def test_a_drain_drops_the_request(server: Server, alice: Person, database: Database, fake: Fake) -> None:
    ask_to_end(alice, question(scenario="held after=0 key=title"))
    fake.wait_for(lambda calls: title_calls(fake))
    server.signal(signal.SIGTERM)
    assert server.wait(10) == 0
    assert (title_of(database), database.rows(ROW)) == (FIRST_LINE, [("interrupted", "", None)])


@pytest.mark.database
def test_a_reply_that_failed_or_was_cut_gets_no_title(alice: Person, database: Database, fake: Fake) -> None:
    for reply in ("status code=5007", "empty", "cut after=2", "words tokens=400 delay=0.05"):
        with alice.ask(question("Red Boats", reply=reply)) as stream:
            if "400" in reply:
                stream.until(5)
                alice.stop(stream.run)
            stream.to_end()
    time.sleep(0.5)
    assert (title_of(database), title_calls(fake)) == (FIRST_LINE, [])
    alice.started(f"/messages/{stream.meta['user_message']}/edit/", content=question("Red Boats"))
    until(lambda: title_of(database) == "Red Boats")


@pytest.mark.database
def test_a_truncated_reply_gets_a_title(alice: Person, database: Database) -> None:
    ask_to_end(alice, question("Red Boats", reply="length tokens=3"))
    until(lambda: title_of(database) == "Red Boats")


@pytest.mark.parametrize(
    ("settings", "choice"),
    [
        ({"TITLE_MODEL": "none"}, {}),
        ({"CLOUDFLARE_ACCOUNT_ID": "", "CLOUDFLARE_API_TOKEN": ""}, {}),
        ({}, {"model": "small-1"}),
    ],
)
def test_titles_can_be_off_and_text_stays_at_its_server(
    servers: Start, database: Database, fake: Fake, settings: dict[str, str], choice: dict[str, str]
) -> None:
    endpoint = {"OPENAI_BASE_URL": f"{fake.url}/v1", "OPENAI_API_KEY": "fake-endpoint-key"}
    server = servers(**{"TITLE_MODEL": "", "OPENAI_MODELS": "small-1", **endpoint, **settings})
    ask_to_end(server.person("alice"), question("Red Boats"), **choice)
    time.sleep(0.5)
    assert (title_of(database), database.value(NO_TITLES), requests(fake)) == (FIRST_LINE, 0, 1)


@pytest.mark.database
def test_a_hidden_model_writes_titles(server: Server, alice: Person, database: Database) -> None:
    hidden = f"UPDATE chat_sitemodel SET enabled = {{}} WHERE id LIKE '%{MODEL}'"
    database.each(hidden.format("0" if database.url.startswith("sqlite") else "false"))
    server.terminate()
    server.start()
    until(lambda: MODEL not in alice.get("/").text)
    ask_to_end(alice, question("Red Boats"))
    until(lambda: title_of(database) == "Red Boats")


@pytest.mark.database
def test_a_title_leaves_room_for_replies_in_a_minute(servers: Start, database: Database, fake: Fake) -> None:
    alice = servers(TITLE_MODEL="", REQUESTS_PER_MINUTE="6").person("alice")
    for number in range(1, 5):
        ask_to_end(alice, question("Red Boats"))
        until(lambda number=number: database.value(NO_TITLES) == number and has_ended(database))
    assert requests(fake) == 6, "four replies, two titles"
    refused = "SELECT COUNT(*) FROM chat_titlerequest WHERE error_code = 'throttled'"
    assert database.value(refused) == 2


@pytest.mark.database
def test_the_gateway_is_told_what_the_request_is_for(servers: Start, database: Database, fake: Fake) -> None:
    alice = servers(TITLE_MODEL="", AI_GATEWAY_ID="team").person("alice")
    stream = ask_to_end(alice, question("Red Boats"))
    until(lambda: title_of(database) == "Red Boats")
    labels = title_calls(fake)[0]["headers"]["cf-aig-metadata"]
    assert '"purpose": "title"' in labels
    assert stream.conversation in labels
    assert "alice" not in labels
    assert database.value("SELECT gateway FROM chat_titlerequest") == "team"


@pytest.mark.database
def test_no_title_does_harm(alice: Person, database: Database) -> None:
    for number, (reply, title) in enumerate(HOSTILE.items(), 1):
        stream = ask_to_end(alice, question(reply))
        until(lambda number=number: database.value(NO_TITLES) == number and has_ended(database))
        assert title_of(database) == title
        page = alice.get(f"/c/{stream.conversation}/").text
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "\u202e" not in page


@pytest.mark.database
def test_a_deleted_conversation_takes_its_request_along(alice: Person, server: Server) -> None:
    stream = ask_to_end(alice, question("Red Boats"))
    until(lambda: title_of(server.database) == "Red Boats")
    alice.post(f"/c/{stream.conversation}/delete/")
    server.database.each("UPDATE chat_conversation SET deleted = '2020-01-01 00:00:00+00:00'")
    done = run_manage("prune", **server.env)
    assert done.returncode == 0, done.stderr
    assert server.database.value(NO_TITLES) == 0
