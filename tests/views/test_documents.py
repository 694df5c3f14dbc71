"""A question with documents: what the model gets, and on which branch."""

import html
import json
import re
from hashlib import sha256
from typing import Any

import pytest

from chat.files.passages.pages import PageText, split
from tests.fake_cloudflare.server import Fake
from tests.files import documents
from tests.support.databases import Database
from tests.support.server import Person
from tests.support.waiting import until
from tests.views.trees import ask_to_end, started

pytestmark = pytest.mark.database


def sent(fake: Fake, number: int = -1) -> str:
    """The content of a message of the last call upstream."""
    found: str = fake.calls[-1]["body"]["messages"][number]["content"]
    return found


def embedded(fake: Fake) -> list[list[str]]:
    """The texts of each request for embeddings."""
    return [each["body"]["text"] for each in list(fake.calls) if "bge-m3" in each["path"]]


def shown(person: Person, conversation: str) -> list[str]:
    """The names of the documents on the conversation's page."""
    return re.findall(r'class="document-name" dir="auto">([^<]+)<', person.get(f"/c/{conversation}/").text)


def test_the_tray_gets_room_and_price_of_each_model(alice: Person) -> None:
    found = re.search(r'data-models="([^"]+)"', alice.get("/attachments/parts/").text)
    assert found
    model = json.loads(html.unescape(found[1]))["@cf/zai-org/glm-4.7-flash"]
    assert (model["room"], model["price"]) == (65_536, 0.06)
    assert 0 < model["parts"] < model["room"]


def test_a_model_gets_the_text_of_a_pdf_with_the_question(alice: Person, fake: Fake) -> None:
    report = alice.uploaded("report.pdf", documents.pdf("The margin was 7 percent.", "The end."))
    assert (report["kind"], report["pages"]) == ("document", 2)
    first = ask_to_end(alice, "What was the margin?", attachments=[report["id"]])
    assert "[report.pdf, page 1]\nThe margin was 7 percent." in sent(fake)
    assert sent(fake).endswith("\n\nWhat was the margin?")
    assert shown(alice, first.conversation) == ["report.pdf"]
    text = alice.get(report["text_url"]).text
    assert text.index('id="page-1"') < text.index("The margin") < text.index('id="page-2"')

    ask_to_end(alice, "And then?", f"/c/{first.conversation}/messages/")
    assert "The margin was 7 percent." in sent(fake, -3)
    assert sent(fake) == "And then?"
    started(alice, f"/messages/{first.meta['message']}/regenerate/")
    assert "The margin was 7 percent." in sent(fake)
    state = alice.get(f"/c/{first.conversation}/context/?model=@cf/zai-org/glm-4.7-flash").json()
    assert state["tokens"] > report["tokens"]


def test_an_edit_changes_documents_and_branches_stay_apart(alice: Person, fake: Fake) -> None:
    notes, more = (alice.uploaded(f"{name}.txt", name.encode()) for name in ("alpha", "beta"))
    first = ask_to_end(alice, "One", attachments=[notes["id"]])
    edit = f"/messages/{first.meta['user_message']}/edit/"
    kept = started(alice, edit, content="Two")
    assert "\nalpha\n" in sent(fake)
    assert shown(alice, kept.conversation) == ["alpha.txt"]
    started(alice, edit, content="Three", attachments=[more["id"], notes["id"]])
    assert sent(fake).index("\nbeta\n") < sent(fake).index("\nalpha\n")
    started(alice, edit, content="Four", attachments=[])
    assert sent(fake) == "Four"


def test_a_question_may_be_a_document_alone(alice: Person, fake: Fake) -> None:
    told = alice.uploaded("shopping list.txt", b"Buy milk.")
    ask_to_end(alice, "", attachments=[told["id"]])
    assert "Buy milk." in sent(fake)
    assert "shopping list.txt" in alice.get("/").text  # the title


def test_the_parts_of_a_long_document_are_cited(alice: Person, fake: Fake) -> None:
    filler = "The weather was fair, and nothing else was noted on this day of the year."
    pages = [") Tj 0 -15 Td (".join([filler] * 40)] * 30  # lines that stay on the page
    pages[20] = "The ship reached Zanzibar in April."
    book = alice.uploaded("log.pdf", documents.pdf(*pages))
    small = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
    first = ask_to_end(alice, "When did it reach Zanzibar?", attachments=[book["id"]], model=small)
    assert first.done
    assert first.done["citations"] >= 1
    part = alice.get(f"/messages/{first.meta['message']}/outcome/").text
    assert part.count("<bdi>log.pdf</bdi>") == 1
    assert f'href="{book["text_url"]}?page=21#page-21"' in part
    assert "reached Zanzibar" in part
    assert alice.get(f"{book['text_url']}?page=21").status_code == 200


def test_parts_are_found_by_their_meaning_with_embeddings(
    servers: Any, database: Database, fake: Fake
) -> None:
    """The document is too long for the window, and the sought passage has other words than the question."""
    alice = servers(EMBEDDING_MODEL="").person("alice")
    filler = "It is about the days with rain in this place.\n" * 9_000
    text = f"{filler}\n\nHolidays: thirty.\n\n{filler}"
    told = alice.uploaded("handbook.txt", text.encode())
    passages = len([*split(PageText(1, text))])
    # Embeddings are stored a moment after the fake has sent them. Other documents may have some as well.
    stored = (
        f"SELECT SUM(count) FROM chat_passagevectors WHERE sha256 = '{sha256(text.encode()).hexdigest()}'"
    )
    until(lambda: database.value(stored) == passages)
    first = ask_to_end(alice, "Vacation days?", attachments=[told["id"]])
    assert "Holidays: thirty." in sent(fake)
    assert embedded(fake)[-1] == ["Vacation days?"]
    before = len(fake.calls)
    ask_to_end(alice, "fake: words tokens=1", f"/messages/{first.meta['user_message']}/edit/", attachments=[])
    assert len(fake.calls) == before + 1  # without a document nothing is embedded
