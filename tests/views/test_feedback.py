"""Thumbs, and a message's text as it was written."""

import re

import pytest

from tests.support.people import CSRF
from tests.support.server import Person, Server
from tests.views.trees import ask_to_end

pytestmark = pytest.mark.database
ROWS = "SELECT up, reason FROM chat_feedback"


@pytest.fixture
def reply(alice: Person, server: Server) -> str:
    server.database.rows("DELETE FROM chat_feedback")
    return ask_to_end(alice, "hello").meta["message"]


def rows(server: Server) -> list[tuple[bool, str]]:
    unlike = "SELECT COUNT(*) FROM chat_feedback f JOIN chat_message m ON m.id = f.message_id"
    assert not server.database.value(
        f"{unlike} WHERE f.conversation IS NULL OR f.conversation <> m.conversation_id"
    )
    return [(bool(up), reason) for up, reason in server.database.rows(ROWS)]


def test_a_thumb_is_stored_changed_and_taken_back(alice: Person, server: Server, reply: str) -> None:
    path = f"/messages/{reply}/feedback/"
    response = alice.post(path, {"thumb": "down", "reason": " It is wrong.\r\nReally. "})
    assert response.json() == {"message": reply, "thumb": "down", "reason": "It is wrong.\nReally."}
    assert rows(server) == [(False, "It is wrong.\nReally.")]
    for _ in range(2):
        assert alice.post(path, {"thumb": "up"}).json() == {"message": reply, "thumb": "up", "reason": ""}
        assert rows(server) == [(True, "")]
    for _ in range(2):
        assert alice.post(path, {"thumb": "none"}).json() == {"message": reply, "thumb": "none", "reason": ""}
        assert rows(server) == []


def test_a_form_goes_back_to_the_message(alice: Person, server: Server, reply: str) -> None:
    form = {"csrfmiddlewaretoken": CSRF, "thumb": "up", "reason": ""}
    response = alice.client.post(f"/messages/{reply}/feedback/", data=form)
    assert response.status_code == 303
    assert re.fullmatch(rf"/c/[0-9a-f-]{{36}}/#m-{reply}", response.headers["Location"])
    assert rows(server) == [(True, "")]


@pytest.mark.parametrize(
    "body", [{}, {"thumb": None}, {"thumb": "sideways"}, {"thumb": True}, {"reason": "x"}]
)
def test_a_thumb_that_is_none_is_refused(alice: Person, server: Server, reply: str, body) -> None:
    response = alice.post(f"/messages/{reply}/feedback/", body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "malformed")
    assert rows(server) == []


def test_a_reason_has_its_length(alice: Person, server: Server, reply: str) -> None:
    path = f"/messages/{reply}/feedback/"
    assert alice.post(path, {"thumb": "up", "reason": "é" * 1_000}).status_code == 200
    response = alice.post(path, {"thumb": "up", "reason": "é" * 1_001})
    assert (response.status_code, response.json()["error"]["code"]) == (413, "too_long")
    assert rows(server) == [(True, "é" * 1_000)]
