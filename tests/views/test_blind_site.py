"""A site without a model that sees: pictures are not offered, and none is kept."""

import uuid

import pytest

from chat.upstream.catalog import bundled
from tests.files import pictures
from tests.support.databases import Database
from tests.support.server import Person, Server
from tests.support.waiting import until

SENTENCE = "No model here can see pictures. Ask your administrator."


@pytest.fixture(scope="module", autouse=True)
def blind(server: Server, database: Database) -> None:
    fetched = "SELECT count(*) FROM chat_catalogstate WHERE fetched IS NOT NULL"
    until(lambda: database.value(fetched))
    assert "image/jpeg" in server.person("alice").get("/").text
    seeing = ", ".join(f"'{model.id}'" for model in bundled() if model.vision)
    database.rows(f"UPDATE chat_sitemodel SET enabled = false WHERE id IN ({seeing})")
    database.rows("UPDATE chat_catalogstate SET version = version + 1")
    until(lambda: "image/jpeg" not in server.person("alice").get("/").text)


def test_a_picture_is_refused_and_not_kept(alice: Person, database: Database) -> None:
    response = alice.upload("cat.jpg", pictures.jpeg(64))
    assert response.status_code == 400
    assert response.json()["error"] == {"code": "model_cannot_see", "message": SENTENCE}
    assert database.value("SELECT COUNT(*) FROM chat_attachment") == 0


def test_a_form_gets_its_page_back_with_the_sentence(alice: Person, database: Database) -> None:
    fields = {
        "content": "What is this?",
        "client_key": str(uuid.uuid4()),
        "csrfmiddlewaretoken": alice.client.cookies["csrftoken"],
    }
    files = {"file": ("cat.jpg", pictures.jpeg(64))}
    response = alice.client.post("/c/", data=fields, files=files, headers={"Accept": "text/html"})
    assert response.status_code == 400
    assert SENTENCE in response.text
    assert "What is this?" in response.text
    assert database.value("SELECT COUNT(*) FROM chat_attachment") == 0
