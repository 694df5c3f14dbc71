"""Bad input gets a sentence at the right status, changes no row and calls no upstream."""

import json
import uuid
from typing import Any

import pytest

from tests.support.people import CSRF
from tests.support.server import Person
from tests.views.refusals import refused

DEEP = "[" * 10_000 + "]" * 10_000
MALFORMED = [
    b"",
    b"{",
    b"[]",
    b'"text"',
    b"null",
    b"\xff\xfe",
    DEEP.encode(),
    b'{"content": NaN',
    b"{}",
    b'{"content": null}',
    b'{"content": ""}',
    b'{"content": " \\n\\t "}',
    b'{"content": 7}',
    b'{"content": true}',
    b'{"content": ["hello"]}',
    b'{"content": {"text": "hello"}}',
    b'{"content": 1e400}',
    b'{"content": "a\\u0000b"}',
    b'{"content": "half \\ud83d"}',
    b'{"content": "hello", "client_key": 7}',
    b'{"content": "hello", "client_key": "seven"}',
    b'{"content": "hello", "client_key": ["x"]}',
    b'{"content": "hello", "model": 7}',
    b'{"content": "hello", "model": "@cf/no/such"}',
    b'{"content": "hello", "model": "../../../zones"}',
    b'{"content": "hello", "model": "@cf/x?y="}',
    b'{"content": "hello", "model": "a\\r\\nHost: b"}',
    b'{"content": "hello", "system": 7}',
    b'{"content": "hello", "system": ["x"]}',
    b'{"content": "hello", "user": 1}',
    b'{"content": "hello", "is_staff": true}',
]


@pytest.mark.parametrize("path", ["/c/", "further"])
@pytest.mark.parametrize("body", MALFORMED, ids=lambda body: body[:40].decode("latin-1"))
def test_malformed_requests_are_refused(alice: Person, hers: str, unchanged, path: str, body: bytes) -> None:
    path = f"/c/{hers}/messages/" if path == "further" else path
    refused(
        alice.client.post(path, content=body, headers={"Content-Type": "application/json"}), 400, "malformed"
    )


@pytest.mark.parametrize("parent", [7, "x", [], {}, True])
def test_a_malformed_parent_is_refused(alice: Person, hers: str, unchanged, parent: Any) -> None:
    refused(alice.post(f"/c/{hers}/messages/", {"content": "hi", "parent": parent}), 400, "malformed")


def test_a_new_conversation_takes_no_parent(alice: Person, hers: str, unchanged) -> None:
    refused(alice.post("/c/", {"content": "hi", "parent": None}), 400, "malformed")


@pytest.fixture
def another(alice: Person) -> str:
    """A reply in another conversation of alice's."""
    return alice.asked("another").meta["message"]


def test_a_parent_missing_elsewhere_or_no_reply_is_refused(
    alice: Person, another: str, hers: str, server, unchanged
) -> None:
    question = server.database.value("SELECT id FROM chat_message WHERE role = 'user' ORDER BY created DESC")
    for parent in (str(uuid.uuid4()), another, str(uuid.UUID(str(question)))):
        refused(alice.post(f"/c/{hers}/messages/", {"content": "hi", "parent": parent}), 404, "not_found")


@pytest.mark.parametrize("content", ["x" * 200_001, "é" * 200_001])
def test_too_long_requests_are_refused(alice: Person, hers: str, unchanged, content: str) -> None:
    refused(alice.post("/c/", {"content": content}), 413, "too_long")


def test_a_question_beyond_every_window_is_refused_unstored(alice: Person, hers: str, unchanged) -> None:
    body = {"content": "word " * 39_000, "model": "@cf/meta/llama-3.3-70b-instruct-fp8-fast"}
    refused(alice.post("/c/", body), 413, "too_long")


def test_an_over_long_system_prompt_is_refused(alice: Person, hers: str, unchanged) -> None:
    refused(alice.post("/c/", {"content": "hi", "system": "x" * 20_001}), 413, "too_long")


@pytest.mark.parametrize("sent", ["length", "chunks"])
def test_a_body_over_the_limit_is_refused_before_it_is_read(
    alice: Person, hers: str, unchanged, sent: str
) -> None:
    body = json.dumps({"content": "x" * 2_000_000}).encode()
    content = (
        body if sent == "length" else iter([body[at : at + 65_536] for at in range(0, len(body), 65_536)])
    )
    response = alice.client.post("/c/", content=content, headers={"Content-Type": "application/json"})
    refused(response, 413, "too_long")


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", ""])
def test_a_body_that_is_neither_json_nor_a_form_is_refused(
    alice: Person, hers: str, unchanged, kind: str
) -> None:
    response = alice.client.post("/c/", content=b'{"content": "hi"}', headers={"Content-Type": kind})
    refused(response, 415, "unsupported_media_type")


def test_json_that_is_labelled_as_an_event_stream_is_taken(alice: Person) -> None:
    response = alice.client.post(
        "/c/", content=b'{"content": "hi"}', headers={"Content-Type": "text/event-stream"}
    )
    assert response.status_code == 200
    assert "data: [DONE]" in response.text


@pytest.mark.parametrize("token", [None, "x" * 32, "foreign"])
def test_a_call_without_the_right_csrf_token_is_refused(alice: Person, hers: str, unchanged, token) -> None:
    del alice.client.headers["X-CSRFToken"]
    if token:
        alice.client.headers["X-CSRFToken"] = token
    refused(alice.post("/c/", {"content": "hi"}), 403, "csrf")
    refused(alice.post(f"/c/{hers}/delete/"), 403, "csrf")


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_a_call_from_another_site_is_refused(alice: Person, hers: str, unchanged, origin: str) -> None:
    response = alice.post("/c/", {"content": "hi"}, headers={"Origin": origin})
    refused(response, 403, "csrf")
    assert "access-control-allow-origin" not in response.headers


def test_a_form_is_refused_with_a_page(alice: Person, hers: str, unchanged) -> None:
    response = alice.client.post("/c/", data={"content": " ", "csrfmiddlewaretoken": CSRF})
    assert response.status_code == 400
    assert response.headers["Content-Type"].startswith("text/html")
    assert "empty" in response.text
    assert "Write a message or add a file." in response.text


@pytest.mark.parametrize(("field", "status"), [("file", 415), ("document", 400)])
def test_a_form_with_a_file_that_cannot_be_read_is_refused(
    alice: Person, hers: str, unchanged, field: str, status: int
) -> None:
    response = alice.client.post("/c/", data={"content": "hi"}, files={field: b"\x7fELF\x02\x01\x01\0"})
    assert response.status_code == status


@pytest.mark.parametrize("before", ["x", "", str(uuid.UUID(int=7))])
def test_older_messages_of_nowhere_are_refused(alice: Person, hers: str, before: str) -> None:
    assert alice.get(f"/c/{hers}/", params={"before": before}).status_code in (400, 404)
