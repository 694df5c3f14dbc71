"""A question with pictures: what the model gets, what is refused, and what happens to the pictures later."""

import base64
import re
import uuid
from typing import Any

import pytest

from tests.api.client import code
from tests.fake_cloudflare.server import Fake
from tests.files import pictures
from tests.support.concurrency import at_once
from tests.support.server import Person, Server
from tests.views.trees import ask_to_end, started

pytestmark = pytest.mark.database
SEEING = "@cf/google/gemma-4-26b-a4b-it"
BLIND = "@cf/zai-org/glm-4.7-flash"


def uploaded(person: Person, name: str = "cat.jpg", width: int = 64) -> dict[str, Any]:
    return person.uploaded(name, pictures.jpeg(width))


def parts(fake: Fake, number: int = -1) -> Any:
    """The content of a message of the last call upstream."""
    return fake.calls[-1]["body"]["messages"][number]["content"]


def urls(content: Any) -> list[str]:
    return [part["image_url"]["url"] for part in content if part["type"] == "image_url"]


def shown(person: Person, conversation: str) -> list[str]:
    """The ids of the pictures on the conversation's page."""
    return re.findall(r'data-id="([0-9a-f-]{36})" data-name="[^"]', person.get(f"/c/{conversation}/").text)


def counts(server: Server) -> tuple[Any, Any, Any]:
    """Messages, runs and conversations."""
    return tuple(
        server.database.value(f"SELECT COUNT(*) FROM chat_{table}")
        for table in ("message", "run", "conversation")
    )


def test_model_gets_the_stored_bytes_with_the_question(alice: Person, fake: Fake) -> None:
    cat, dog = uploaded(alice), uploaded(alice, "dog.jpg", 65)
    reply = ask_to_end(alice, "What are these?", model=SEEING, attachments=[dog["id"], cat["id"]])
    assert reply.text == "You said: What are these? I see 2 picture(s)."
    content = parts(fake)
    assert content[0] == {"type": "text", "text": "What are these?"}
    stored = [alice.get(told["url"]).content for told in (dog, cat)]
    assert urls(content) == [f"data:image/jpeg;base64,{base64.b64encode(each).decode()}" for each in stored]
    assert shown(alice, reply.conversation) == [dog["id"], cat["id"]]


def test_question_may_be_pictures_alone(alice: Person, fake: Fake) -> None:
    cat = uploaded(alice)
    alice.post(cat["url"], {"alt": "a cat on a mat"})
    reply = ask_to_end(alice, " \n", model=SEEING, attachments=[cat["id"]])
    assert [part["type"] for part in parts(fake)] == ["image_url"]
    assert "a cat on a mat" in alice.get("/").text  # the title
    assert alice.get(f"/messages/{reply.meta['user_message']}/source/").text == ""


def test_pictures_stay_in_the_conversation(alice: Person, fake: Fake) -> None:
    cat = uploaded(alice)
    first = ask_to_end(alice, "What is this?", model=SEEING, attachments=[cat["id"]])
    ask_to_end(alice, "And its colour?", f"/c/{first.conversation}/messages/")
    assert len(urls(parts(fake, 0))) == 1
    again = started(alice, f"/messages/{first.meta['message']}/regenerate/")
    assert "I see 1 picture" in again.text


def test_a_text_model_gets_a_line_for_an_earlier_picture(alice: Person, fake: Fake) -> None:
    cat = uploaded(alice)
    alice.post(cat["url"], {"alt": "a cat"})
    first = ask_to_end(alice, "What is this?", model=SEEING, attachments=[cat["id"]])
    ask_to_end(alice, "And now?", f"/c/{first.conversation}/messages/", model=BLIND)
    assert parts(fake, 0) == "What is this?\n\n[picture: a cat]"


def test_edit_keeps_adds_and_removes_pictures(alice: Person, fake: Fake) -> None:
    cat, dog = uploaded(alice), uploaded(alice, "dog.jpg", 65)
    first = ask_to_end(alice, "One", model=SEEING, attachments=[cat["id"]])
    edit = f"/messages/{first.meta['user_message']}/edit/"
    kept = started(alice, edit, content="Two")
    assert len(urls(parts(fake))) == 1
    (copy,) = shown(alice, kept.conversation)
    assert copy != cat["id"]  # the earlier version has its own
    both = started(alice, edit, content="Three", attachments=[dog["id"], cat["id"]])
    assert len(urls(parts(fake))) == 2
    assert shown(alice, both.conversation)[0] == dog["id"]
    none = started(alice, edit, content="Four", attachments=[])
    assert parts(fake) == "Four"
    assert shown(alice, none.conversation) == []
    alone = started(alice, edit, content="", attachments=[cat["id"]])
    assert len(urls(parts(fake))) == 1
    empty = alice.post(f"/messages/{alone.meta['user_message']}/edit/", {"content": " ", "attachments": []})
    assert code(empty) == (400, "malformed")


@pytest.mark.parametrize("whose", ["nobody's", "bob's", "sent"])
def test_unknown_picture_is_refused_and_nothing_is_stored(server: Server, alice: Person, whose: str) -> None:
    if whose == "nobody's":
        id_ = str(uuid.uuid4())
    elif whose == "bob's":
        id_ = uploaded(server.person("bob"))["id"]
    else:
        id_ = uploaded(alice)["id"]
        ask_to_end(alice, "First", model=SEEING, attachments=[id_])
    good, before = uploaded(alice, width=70), counts(server)
    body = {"content": "Well?", "model": SEEING, "attachments": [good["id"], id_]}
    response = alice.post("/c/", body)
    assert code(response) == (400, "attachment_not_found")
    assert response.json()["error"]["attachments"] == [id_]
    assert ("cat.jpg" in response.json()["error"]["message"]) is (whose == "sent")  # the names that are known
    assert counts(server) == before
    ask_to_end(alice, "Well?", model=SEEING, attachments=[good["id"]])  # it is still unsent


def test_another_persons_picture_cannot_enter_a_question(server: Server, alice: Person) -> None:
    first = ask_to_end(alice, "One", model=SEEING)
    theirs = uploaded(server.person("bob"))["id"]
    body = {"content": "Two", "attachments": [theirs]}
    response = alice.post(f"/messages/{first.meta['user_message']}/edit/", body)
    assert code(response) == (400, "attachment_not_found")
    assert response.json()["error"]["attachments"] == [theirs]


@pytest.mark.parametrize("way", ["send", "edit", "regenerate"])
def test_a_model_that_sees_answers_in_place_of_one_that_cannot(alice: Person, fake: Fake, way: str) -> None:
    cat = uploaded(alice)["id"]
    if way == "send":
        reply = ask_to_end(alice, "Well?", model=BLIND, attachments=[cat])
    else:
        first = ask_to_end(alice, "One", model=SEEING, attachments=[cat])
        name = {"edit": "user_message", "regenerate": "message"}[way]
        more = {"edit": {"content": "Well?"}, "regenerate": {}}[way]
        reply = started(alice, f"/messages/{first.meta[name]}/{way}/", model=BLIND, **more)
    assert reply.meta["model"] == SEEING  # the cheapest one
    assert len(urls(parts(fake))) == 1
    # The chat stays with it; the next one begins with the site's model.
    follow = ask_to_end(alice, "And?", f"/c/{reply.meta['conversation']}/messages/")
    assert follow.meta["model"] == SEEING
    assert ask_to_end(alice, "Another chat").meta["model"] == BLIND


def test_a_form_without_scripts_switches_too(server: Server, alice: Person, fake: Fake) -> None:
    assert "Gemma 4 26B A4B answers questions with pictures." in server.person("bob").get("/").text
    fields = {
        "content": "Well?",
        "model": BLIND,
        "client_key": str(uuid.uuid4()),
        "csrfmiddlewaretoken": alice.client.cookies["csrftoken"],
    }
    files = {"file": ("cat.jpg", pictures.jpeg(64))}
    response = alice.client.post("/c/", data=fields, files=files, headers={"Accept": "text/html"})
    assert response.status_code == 303, response.text
    fake.wait_for(lambda calls: calls and calls[-1]["method"] == "POST")
    assert f'value="{SEEING}" selected' in alice.get(response.headers["Location"]).text


@pytest.mark.parametrize(
    "sent",
    ["x", ["x"], [1], {"a": 1}, [str(uuid.UUID(int=n)) for n in range(9)]],
    ids=["text", "no id", "number", "object", "nine"],
)
def test_malformed_lists_are_refused(alice: Person, sent: Any) -> None:
    body = {"content": "Well?", "model": SEEING, "attachments": sent}
    assert code(alice.post("/c/", body)) == (400, "malformed")


def test_the_same_key_with_another_picture_is_another_command(alice: Person, server: Server) -> None:
    cat, dog = uploaded(alice), uploaded(alice, "dog.jpg", 65)
    key = str(uuid.uuid4())
    body = {"content": "Well?", "model": SEEING, "attachments": [cat["id"]], "client_key": key}
    first = alice.post("/c/", body)
    before = counts(server)
    assert alice.post("/c/", body).headers["X-Run-Id"] == first.headers["X-Run-Id"]
    assert code(alice.post("/c/", body | {"attachments": [dog["id"]]})) == (409, "conflict")
    assert counts(server) == before


def test_four_sends_of_one_picture_at_once_make_one_message(alice: Person, server: Server) -> None:
    cat = uploaded(alice)
    body = {"content": "Well?", "model": SEEING, "attachments": [cat["id"]]}
    before = counts(server)
    responses = at_once(4, lambda: server.person("alice").post("/c/", body))
    assert sorted(response.status_code for response in responses) == [200, 400, 400, 400]
    assert counts(server)[2] == before[2] + 1


def test_form_without_scripts_names_pictures(alice: Person, fake: Fake) -> None:
    cat, dog = uploaded(alice), uploaded(alice, "dog.jpg", 65)
    fields = {
        "content": "Well?",
        "model": SEEING,
        "attachments": [cat["id"], dog["id"]],
        "client_key": str(uuid.uuid4()),
        "csrfmiddlewaretoken": alice.client.cookies["csrftoken"],
    }
    response = alice.client.post("/c/", data=fields, headers={"Accept": "text/html"})
    assert response.status_code == 303
    fake.wait_for(lambda calls: calls and calls[-1]["method"] == "POST")
    assert len(shown(alice, response.headers["Location"].split("/")[2])) == 2


def test_picture_whose_file_is_gone_becomes_a_line(alice: Person, server: Server, fake: Fake) -> None:
    cat = uploaded(alice, "unique.jpg", 91)
    for file in (server.folder / "attachments").rglob("*"):
        if file.is_file():
            file.unlink()
    ask_to_end(alice, "Well?", model=SEEING, attachments=[cat["id"]])
    assert parts(fake)[1]["text"] == "[picture]"


def test_site_without_pictures_promises_none(servers: Any) -> None:
    without = servers(ATTACHMENTS="off").person("alice")
    page = without.get("/").text
    assert 'type="file"' not in page
    assert "vision</span>" not in without.get("/models/").text
    body = {"content": "Well?", "model": SEEING, "attachments": [str(uuid.uuid4())]}
    assert code(without.post("/c/", body)) == (400, "attachment_not_found")
