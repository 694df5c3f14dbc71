"""A temporary chat is in no list, has no generated title, and is gone when it is closed."""

import pytest

from tests.support.databases import Database
from tests.support.people import CSRF
from tests.support.server import Person
from tests.support.waiting import until
from tests.views.conversations import column

pytestmark = pytest.mark.database
SECRET = "where the treasure is"


@pytest.fixture
def chat(alice: Person) -> str:
    return alice.asked(SECRET, temporary=True).conversation


def rows(database: Database, table: str, conversation: str, name: str = "conversation_id") -> int:
    plain = conversation.replace("-", "")
    where = f"REPLACE(LOWER(CAST({name} AS VARCHAR(36))), '-', '') = '{plain}'"
    return int(database.value(f"SELECT COUNT(*) FROM {table} WHERE {where}"))


def test_it_is_listed_nowhere_and_its_title_tells_nothing(alice: Person, chat: str, database) -> None:
    for path in ("/", "/conversations/", "/conversations/archive/", f"/search/?q={SECRET.split()[-2]}"):
        response = alice.get(path)
        assert chat not in response.text, path
        assert SECRET not in response.text, path
    assert SECRET in alice.get(f"/c/{chat}/").text
    assert column(database, "title", chat) == "Temporary chat"
    assert column(database, "title_state", chat) == "final"
    change = {"action": "pin", "conversations": [chat]}
    assert alice.post("/conversations/", change).status_code == 404


def test_closing_it_deletes_its_rows_and_keeps_its_usage(alice: Person, chat: str, database) -> None:
    used = database.value("SELECT COUNT(*) FROM chat_purgedusage")
    assert alice.post(f"/c/{chat}/delete/").status_code == 200
    assert rows(database, "chat_conversation", chat, "id") == 0
    assert rows(database, "chat_message", chat) == 0
    assert database.value("SELECT COUNT(*) FROM chat_purgedusage") == used + 1
    assert alice.post(f"/c/{chat}/undelete/").status_code == 404


def test_closing_it_stops_the_reply_and_the_sweep_does_the_rest(alice: Person, database) -> None:
    with alice.ask("fake: words tokens=2000 delay=0.05", temporary=True) as stream:
        stream.until(10)
        assert alice.post(f"/c/{stream.conversation}/delete/").status_code == 200
        stream.to_end()
    assert stream.done["status"] == "stopped"
    assert alice.get(f"/c/{stream.conversation}/").status_code == 404
    assert column(database, "deleted", stream.conversation)
    assert "/undelete/" not in alice.get(f"/?deleted={stream.conversation}").text.split('id="toast"')[1][:400]
    assert alice.post(f"/c/{stream.conversation}/undelete/").status_code == 404
    assert stream.conversation not in alice.get("/conversations/trash/").text


def test_a_form_begins_one(alice: Person, database: Database) -> None:
    page = alice.get("/?temporary=on").text
    assert 'name="temporary" value="on"' in page
    assert "it is deleted when you leave this page" in page
    assert 'name="temporary"' not in alice.get("/").text
    form = {"content": "hello", "temporary": "on", "csrfmiddlewaretoken": CSRF}
    response = alice.client.post("/c/", data=form)
    assert response.status_code == 303
    conversation = response.headers["Location"].split("/")[2]
    assert column(database, "temporary", conversation)
    assert "data-temporary" in alice.get(f"/c/{conversation}/").text
    until(lambda: not database.value("SELECT COUNT(*) FROM chat_run WHERE finished IS NULL"))


@pytest.mark.parametrize("value", ["on", 1, None, []])
def test_a_choice_that_is_none_is_refused(alice: Person, hers: str, unchanged: None, value: object) -> None:
    assert alice.post("/c/", {"content": "hello", "temporary": value}).status_code == 400
    response = alice.post(f"/c/{hers}/messages/", {"content": "hello", "temporary": True})
    assert response.status_code == 400
