"""The stream and the pages as the HTTP contract writes them."""

import json
import uuid

import pytest

from tests.support.people import CSRF
from tests.support.server import Person, Server


def test_a_stream_has_its_headers_and_begins_with_retry_and_meta(server: Server) -> None:
    with server.person("alice").client.stream("POST", "/c/", json={"content": "hello"}) as response:
        body = response.read().decode()
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/event-stream")
    assert response.headers["Cache-Control"] == "no-cache, no-transform"
    assert response.headers["X-Accel-Buffering"] == "no"
    assert response.headers["Content-Encoding"] == "identity"
    retry, meta = body.split("\n\n")[:2]
    assert retry.startswith("retry: ")
    event, data = meta.split("\n")
    assert event == "event: meta"
    payload = json.loads(data.removeprefix("data: "))
    assert set(payload) == {"response", "v", "conversation", "message", "user_message", "run", "model"}
    assert payload["response"] == ""
    assert payload["v"] == 1
    assert payload["run"] == response.headers["X-Run-Id"]
    assert payload["conversation"] == response.headers["X-Conversation-Id"]
    assert payload["model"] == "@cf/zai-org/glm-4.7-flash"
    assert body.endswith("data: [DONE]\n\n")


def test_payloads_have_a_response_and_ids_name_the_end(server: Server) -> None:
    with server.person("alice").ask("fake: reasoning tokens=10 delay=0.01") as stream:
        while (event := stream.next()) and event.data != "[DONE]":
            assert isinstance(json.loads(event.data)["response"], str)
            if event.event == "message":
                place = str(len(stream.text)) + (f".{len(stream.reasoning)}" if stream.reasoning else "")
                assert event.id == place
    assert stream.position == f"{len(stream.text)}.{len(stream.reasoning)}!"
    assert stream.done["status"] == "complete"
    assert stream.done["finish_reason"] == "stop"
    assert stream.done["usage"]["completion_tokens"] > 0


@pytest.mark.parametrize(
    ("scenario", "status", "code"),
    [
        ("length", "truncated", None),
        ("budget", "truncated", None),
        ("nodone", "complete", None),
        ("cut after=3 how=clean", "interrupted", None),
        ("cut after=3 how=abrupt", "interrupted", "interrupted"),
        ("cut after=3 how=reset", "interrupted", "interrupted"),
        ("instream_error code=3040 after=3", "failed", "busy"),
        ("status http=429 code=3036", "failed", "quota"),
        ("status http=401 code=10000", "failed", "auth"),
        ("status http=413 code=5021", "failed", "too_long"),
        ("redirect", "failed", "unavailable"),
        ("json", "complete", None),
    ],
)
def test_each_end_of_the_upstream_is_an_end_of_ours(server: Server, scenario: str, status: str, code) -> None:
    stream = server.person("alice").asked(f"fake: {scenario}")
    assert stream.done["status"] == status
    assert stream.done.get("code") == code
    assert stream.finished
    stored = server.database.rows(
        "SELECT r.status, r.error_code, m.text FROM chat_run r JOIN chat_message m ON m.id = r.message_id"
        " ORDER BY r.created DESC LIMIT 1"
    )
    assert stored == [(status, code or "", stream.text)]
    assert "fake-token" not in server.log.read_text()
    if code:
        assert len(stream.done["message"]) > 10


def test_model_and_system_sent_with_a_turn_hold_from_then_on(alice: Person, fake) -> None:
    stream = alice.asked("first")
    path = f"/c/{stream.conversation}/messages/"
    alice.asked("second", path, model="@cf/openai/gpt-oss-20b", system="Be short.")
    last = alice.asked("third", path)
    assert fake.calls[-1]["path"].endswith("@cf/openai/gpt-oss-20b")
    assert fake.calls[-1]["body"]["messages"][0] == {"role": "system", "content": "Be short."}
    assert last.meta["model"] == "@cf/openai/gpt-oss-20b"


def test_a_parent_branches_the_conversation(alice: Person, fake) -> None:
    stream = alice.asked("first")
    path = f"/c/{stream.conversation}/messages/"
    alice.asked("second", path)
    alice.asked("beside the second", path, parent=stream.meta["message"])
    assert [m["content"] for m in fake.calls[-1]["body"]["messages"] if m["role"] == "user"] == [
        "first",
        "beside the second",
    ]
    alice.asked("anew", path, parent=None)
    assert [m["content"] for m in fake.calls[-1]["body"]["messages"]] == ["anew"]
    page = alice.get(f"/c/{stream.conversation}/").text
    assert "anew" in page
    assert "beside the second" not in page


def test_form_send_is_303_to_the_conversation(server: Server) -> None:
    alice, questions = server.person("alice"), "SELECT COUNT(*) FROM chat_message WHERE role = 'user'"
    before = server.database.value(questions)
    form = {"content": "hello\r\nthere", "client_key": str(uuid.uuid4()), "csrfmiddlewaretoken": CSRF}
    responses = [alice.client.post("/c/", data=form) for _ in range(2)]
    assert [response.status_code for response in responses] == [303, 303]
    assert responses[0].headers["Location"] == responses[1].headers["Location"]
    page = alice.get(responses[0].headers["Location"])
    assert page.status_code == 200
    assert "hello\nthere" in page.text.replace("\r", "")
    other = alice.client.post("/c/", data={**form, "content": "something else"})
    assert other.headers["Location"] != responses[0].headers["Location"]
    assert server.database.value(questions) == before + 2


def test_older_messages_are_on_pages_before(alice: Person) -> None:
    stream = alice.asked("question 0")
    for number in range(1, 30):
        alice.asked(f"question {number}", f"/c/{stream.conversation}/messages/")
    newest = alice.get(f"/c/{stream.conversation}/").text
    assert "question 29" in newest
    assert "question 5" in newest
    assert "question 4<" not in newest
    before = newest.split("?before=")[1][:36]
    older = alice.get(f"/c/{stream.conversation}/", params={"before": before}).text
    assert "question 4" in older
    assert "question 0" in older
    assert "question 5<" not in older
