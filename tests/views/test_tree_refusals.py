"""Impossible actions on a message: each is refused with a sentence, changes no row and calls no upstream."""

import json
import uuid
from typing import Any

import pytest

from tests.support.people import CSRF
from tests.support.server import Person, Server
from tests.views.refusals import refused
from tests.views.trees import ask_to_end, cut_short, started

CALLS = {
    "edit": "question",
    "regenerate": "reply",
    "continue": "reply",
    "select": "reply",
    "feedback": "reply",
}
DEEP = "[" * 10_000 + "]" * 10_000
ODD = [
    b"",
    b"{",
    b"[]",
    b'"text"',
    b"null",
    b"7",
    b"\xff\xfe",
    DEEP.encode(),
    b'{"x": ' + DEEP.encode() + b"}",
]
VALUES = ["7", "true", "[]", "{}", '["x"]', "1e400", "NaN", "-Infinity", '"\\ud83d"', '"a\\u0000b"', DEEP]
FIELDS = {
    "edit": ["content", "client_key", "model", "system"],
    "regenerate": ["client_key", "model"],
    "continue": ["client_key"],
    "feedback": ["thumb", "reason"],
}
GOOD = {"edit": '"content": "hi"', "feedback": '"thumb": "up"'}


@pytest.fixture
def hers(alice: Person) -> dict[str, str]:
    """A conversation whose reply could be continued."""
    meta = cut_short(alice, "truncated").meta
    return {"question": meta["user_message"], "reply": meta["message"], "conversation": meta["conversation"]}


def post(alice: Person, path: str, body: bytes) -> Any:
    return alice.client.post(path, content=body, headers={"Content-Type": "application/json"})


@pytest.mark.parametrize("call", CALLS)
def test_a_body_that_is_no_object_is_refused(alice: Person, hers, unchanged, call: str) -> None:
    for body in ODD:
        refused(post(alice, f"/messages/{hers[CALLS[call]]}/{call}/", body), 400, "malformed")


@pytest.mark.parametrize(("call", "field"), [(call, field) for call in FIELDS for field in FIELDS[call]])
def test_a_field_of_another_type_is_refused(alice: Person, hers, unchanged, call: str, field: str) -> None:
    for value in VALUES:
        more = f"{GOOD[call]}, " if call in GOOD and field not in GOOD[call] else ""
        body = f'{{{more}"{field}": {value}}}'
        refused(post(alice, f"/messages/{hers[CALLS[call]]}/{call}/", body.encode()), 400, "malformed")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "field",
    [
        "user",
        "is_staff",
        "status",
        "conversation",
        "created",
        "role",
        "parent",
        "selected_at",
        "active_leaf",
        "text",
    ],
)
def test_a_field_that_is_not_theirs_to_set_is_refused(
    alice: Person, hers, unchanged, call: str, field: str
) -> None:
    good = {"edit": {"content": "hi"}, "feedback": {"thumb": "up"}}.get(call, {})
    path = f"/messages/{hers[CALLS[call]]}/{call}/"
    refused(alice.post(path, {**good, field: hers["conversation"]}), 400, "malformed")
    form = alice.client.post(path, data={**good, field: "1", "csrfmiddlewaretoken": CSRF})
    assert form.status_code == 400


@pytest.mark.parametrize(
    "body", [{}, {"content": None}, {"content": " \n"}, {"content": "hi", "model": "no/such"}]
)
def test_an_edit_needs_content_and_a_model_that_exists(alice: Person, hers, unchanged, body) -> None:
    refused(alice.post(f"/messages/{hers['question']}/edit/", body), 400, "malformed")


def test_an_edit_that_is_too_long_is_refused(alice: Person, hers, unchanged) -> None:
    refused(alice.post(f"/messages/{hers['question']}/edit/", {"content": "x" * 200_001}), 413, "too_long")


def test_an_unknown_model_writes_no_other_reply(alice: Person, hers, unchanged) -> None:
    refused(alice.post(f"/messages/{hers['reply']}/regenerate/", {"model": "no/such"}), 400, "malformed")


@pytest.mark.parametrize(
    ("call", "target"),
    [("edit", "reply"), ("regenerate", "question"), ("continue", "question"), ("feedback", "question")],
)
def test_an_action_for_another_kind_of_message_is_a_conflict(
    alice: Person, hers, unchanged, call: str, target: str
) -> None:
    body = {"edit": {"content": "hi"}, "feedback": {"thumb": "up"}}.get(call, {})
    refused(alice.post(f"/messages/{hers[target]}/{call}/", body), 409, "conflict")


class TestAReplyThatIs:
    @pytest.fixture(params=["complete", "failed", "not the last"])
    def hers(self, alice: Person, request: pytest.FixtureRequest) -> str:
        if request.param != "not the last":
            question = {"complete": "hello", "failed": "fake: status http=401 code=10000"}[request.param]
            return ask_to_end(alice, question).meta["message"]
        cut = cut_short(alice, "truncated")
        ask_to_end(alice, "and then?", f"/c/{cut.conversation}/messages/")
        return cut.meta["message"]

    def test_cannot_be_continued(self, alice: Person, hers: str, unchanged) -> None:
        refused(alice.post(f"/messages/{hers}/continue/", {}), 409, "conflict")


def test_a_completed_continuation_cannot_be_continued(alice: Person, hers) -> None:
    started(alice, f"/messages/{hers['reply']}/continue/")
    refused(alice.post(f"/messages/{hers['reply']}/continue/", {}), 409, "conflict")


def test_running_reply_blocks_other_turns_as_busy(alice: Person, server) -> None:
    first = ask_to_end(alice, "hello")
    path = f"/c/{first.conversation}/messages/"
    with alice.ask("fake: words tokens=2000 delay=0.02", path) as live:
        live.until(10)
        question, reply = first.meta["user_message"], first.meta["message"]
        edit = {"content": "hi", "client_key": str(uuid.uuid4())}
        for path, body in (
            (f"/messages/{question}/edit/", edit),
            (f"/messages/{reply}/regenerate/", {}),
            (f"/messages/{live.meta['message']}/continue/", {}),
            (f"/messages/{live.meta['message']}/regenerate/", {}),
            (f"/messages/{reply}/select/", {}),
        ):
            response = server.person("alice").post(path, body)
            refused(response, 409, "busy")
            assert response.json()["error"]["run"] == live.run
        assert server.person("alice").post(f"/messages/{reply}/feedback/", {"thumb": "up"}).status_code == 200
        server.person("alice").stop(live.run)
        live.to_end()
    assert started(alice, f"/messages/{question}/edit/", **edit).done["status"] == "complete"


@pytest.fixture
def gone(server: Server) -> dict[str, str]:
    """A turn of bob's in a conversation that he deleted."""
    stream = cut_short(server.person("bob"), "truncated")
    server.person("bob").post(f"/c/{stream.conversation}/delete/")
    return stream.meta


@pytest.mark.parametrize("call", [*CALLS, "source"])
def test_foreign_missing_and_deleted_messages_are_alike(
    server: Server, hers, gone, unchanged, call: str
) -> None:
    method = "GET" if call == "source" else "POST"
    body = {"edit": {"content": "hi"}, "feedback": {"thumb": "up"}}.get(call, {})
    keys = (hers["question"], hers["reply"], gone["user_message"], gone["message"], uuid.uuid4())
    responses = [
        server.person("bob").client.request(method, f"/messages/{key}/{call}/", json=body) for key in keys
    ]
    assert {(response.status_code, response.content) for response in responses} == {
        (404, responses[0].content)
    }
    assert json.loads(responses[0].content)["error"]["code"] == "not_found"
