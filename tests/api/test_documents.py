"""Documents in API calls: their text before the question, in both dialects, and each refusal."""

import base64
from typing import Any

import pytest

from chat.api import document_parts
from chat.api.document_parts import SentDocument, texts_of
from chat.files.problems import TooManyAtOnce
from chat.upstream.client import Client
from tests.api.client import CHAT, MODEL, RUN, Program, code, text
from tests.fake_cloudflare.server import Fake
from tests.files import documents, pictures
from tests.support.server import Server

SEEING = "@cf/google/gemma-4-26b-a4b-it"
JPEG = "data:image/jpeg;base64," + base64.b64encode(pictures.jpeg()).decode()


def url_of(content: bytes, kind: str = "application/pdf") -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def sent(content: bytes, name: str = "report.pdf", **more: Any) -> dict[str, Any]:
    return {"type": "file", "file": {"filename": name, "file_data": url_of(content), **more}}


def body(*parts: Any, model: str = MODEL, role: str = "user") -> dict[str, Any]:
    return {"model": model, "messages": [{"role": role, "content": list(parts)}]}


def sent_text_of(fake: Fake) -> Any:
    return fake.calls[-1]["body"]["messages"][-1]["content"]


def test_both_dialects_put_the_text_before_the_question(alices: Program, fake: Fake) -> None:
    parts = [text("How high is it?"), sent(documents.pdf("It is 7 m high", "and long")), text(" Say.")]
    response = alices.client.post(CHAT, json=body(*parts))
    assert response.status_code == 200, response.text
    sent_text = sent_text_of(fake)
    assert sent_text.endswith("\n\nHow high is it? Say.")
    assert "text of document 1, 2 pages" in sent_text
    assert "document 1: [report.pdf, p. 1]" in sent_text
    assert "[report.pdf, page 1]\nIt is 7 m high\n\n[report.pdf, page 2]\nand long" in sent_text
    response = alices.client.post(f"{RUN}/{MODEL}", json={"messages": [{"role": "user", "content": parts}]})
    assert response.status_code == 200
    assert sent_text_of(fake) == sent_text


def test_a_picture_and_files_in_one_message(alices: Program, fake: Fake) -> None:
    shown = {"type": "image_url", "image_url": {"url": JPEG}}
    other = {"type": "input_file", "filename": "../b.txt", "file_data": url_of(b"the note", "text/plain")}
    parts = [shown, sent(documents.pdf("the pdf")), text("Well?"), other]
    response = alices.client.post(CHAT, json=body(*parts, model=SEEING))
    assert response.status_code == 200, response.text
    first, second, third, fourth = sent_text_of(fake)
    assert ("the pdf" in first["text"], "document 2: [b.txt]" in second["text"]) == (True, True)
    assert (third, fourth) == (shown, text("Well?"))


@pytest.mark.parametrize(
    ("part", "refusal"),
    [
        ({"type": "file"}, "400 missing_required_parameter"),
        ({"type": "file", "file": "x"}, "400 invalid_type"),
        (sent(b"", file_id="file-1"), "400 unsupported_parameter"),
        ({"type": "file", "file": {"file_data": "https://example.org/a.pdf"}}, "400 invalid_value"),
        ({"type": "file", "file": {"file_data": "data:text/plain;base64,!!"}}, "400 invalid_value"),
        ({"type": "file", "file": {"file_data": 7}}, "400 invalid_type"),
        ({"type": "file", "file": {"file_data": url_of(b"x"), "filename": "\0"}}, "400 invalid_value"),
        (sent(b""), "415 not_a_document"),
        (sent(pictures.jpeg(), "a.jpg"), "415 not_a_document"),
        (sent(b"%PDF-1.7 nothing"), "422 broken_document"),
        (sent(documents.pdf("")), "422 no_text"),
        (sent(documents.package({"mimetype": "x", "content.xml": "x"}), "a.odt"), "200"),
    ],
    ids=range(12),
)
def test_refusals_of_a_file(alices: Program, fake: Fake, part: dict[str, Any], refusal: str) -> None:
    before = [each for each in fake.calls if "/ai/run" in each["path"]]
    response = alices.client.post(CHAT, json=body(text("Well?"), part))
    if refusal == "200":
        assert "# document.odt" in sent_text_of(fake)
        return
    assert "{} {}".format(*code(response)) == refusal
    native = alices.run({"messages": [{"role": "user", "content": [text("Well?"), part]}]})
    assert (native.status_code, native.json()["errors"][0]["code"]) == (response.status_code, 5006)
    assert [each for each in fake.calls if "/ai/run" in each["path"]] == before


def test_only_users_send_files(alices: Program) -> None:
    for role in ("assistant", "system", "tool"):
        call_body = body(text("Well?"), sent(b"x", "a.txt"), role=role)
        call_body["messages"].append({"role": "user", "content": "?"})
        assert code(alices.client.post(CHAT, json=call_body)) == (400, "invalid_value")


def test_number_and_size_have_limits(alices: Program, fake: Fake) -> None:
    note = sent(b"x", "a.txt")
    assert code(alices.client.post(CHAT, json=body(*[note] * 9))) == (400, "malformed")
    large = sent(documents.pdf("large") + b" " * 4_000_000)
    assert alices.client.post(CHAT, json=body(large, text("Well?"))).status_code == 200
    other = sent(documents.pdf("other") + b" " * 4_000_000)
    assert code(alices.client.post(CHAT, json=body(large, other))) == (413, "too_long")
    long = [sent(b"x" * 2_100_000 + end, "a.txt") for end in (b"1", b"2")]
    assert code(alices.client.post(CHAT, json=body(*long))) == (422, "document_too_long")


def test_a_recorded_call_has_a_line_for_the_file(program: Any, server: Server) -> None:
    someone = program()
    server.database.rows("UPDATE chat_apikey SET keeps_conversations = true")
    response = someone.client.post(CHAT, json=body(sent(documents.pdf("secret")), text("Remember the file?")))
    assert response.status_code == 200
    found = server.database.value(
        "SELECT text FROM chat_message WHERE role = 'user' AND text LIKE '%Remember the file?'"
    )
    assert found == "[document: report.pdf]\n\nRemember the file?"


async def test_files_that_wait_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    client, documents_sent = Client(None, None), [SentDocument("a.txt", b"x")]
    (text,) = (await texts_of(client, 1, documents_sent)).values()
    assert "\nx\n" in text
    monkeypatch.setattr(document_parts, "MAX_WAITING_DOCUMENT_CALLS", 0)
    with pytest.raises(TooManyAtOnce) as error:
        await texts_of(client, 1, documents_sent)
    assert (error.value.status, error.value.retry_after) == (429, 5)
    await client.aclose()


def test_a_key_without_a_right_has_no_file_read(program: Any, fake: Fake) -> None:
    lister = program(run=False)
    assert lister.client.post(CHAT, json=body(sent(documents.pdf("x")))).status_code == 403
