"""Documents over HTTP: the upload, the file, the page of their text, sharing and review, and each refusal."""

import re
import threading
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from chat.catalog.catalog import CurrentCatalog
from chat.conversations.turns.fork import fork
from chat.conversations.turns.store import StoredTurn
from chat.engine.engine import Engine
from chat.exceptions import ServiceDraining
from chat.files.passages import best_passages
from chat.models import (
    Attachment,
    AttachmentFile,
    Conversation,
    ConversationAccess,
    DocumentPage,
    Message,
    Run,
    SharedLink,
    User,
)
from chat.sharing import links
from chat.sharing.snapshot import copy as copied
from chat.upstream.catalog import Catalog, LlmModel
from chat.views.files import attachment_parts
from tests.files import documents, pdfs, pictures
from tests.passages.stored import document
from tests.support.clients import as_
from tests.support.readings import forget_readings

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
JSON = {"HTTP_ACCEPT": "application/json"}
HTML = "<script>alert(1)</script> & more"


@pytest.fixture(autouse=True)
def folder(attachments: Path, settings: Any) -> Path:
    settings.SHARING = "permanent"
    return attachments


@pytest.fixture
def talk(alice: User) -> Conversation:
    made = Conversation.objects.create(user=alice, title="Reports", model="m")
    question = Message.objects.create(conversation=made, role="user", text="What is in it?")
    document(alice, [f"Page {number}. {HTML}" for number in range(1, 121)], message=question)
    made.active_leaf = Message.objects.create(
        conversation=made, role="assistant", text="Pages.", parent=question
    )
    made.save()
    return made


@pytest.fixture
def report(talk: Conversation) -> Attachment:
    return Attachment.objects.get(message__conversation=talk)


def upload(alice_client: Client, content: bytes, name: str = "notes.txt") -> Any:
    return alice_client.post(
        "/attachments/", {"file": SimpleUploadedFile(name, content, "image/png")}, **JSON
    )


def text_url(attachment: Attachment, query: str = "") -> str:
    return f"/attachments/{attachment.pk}/text/{query}"


@pytest.mark.parametrize("account", ["", "acc"])
def test_the_page_offers_only_types_that_are_read(account: str, settings: Any) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID = account
    offered = attachment_parts.accepted(pictures=False).split(",")
    assert {".pdf", ".docx", "text/*"} <= set(offered)
    assert [each in offered for each in (".odt", ".ods", ".numbers")] == [bool(account)] * 3


def test_a_document_is_stored_as_it_was_sent_with_its_text(alice_client: Client, folder: Path) -> None:
    content = "Grüße, 世界.\n".encode()
    response = upload(alice_client, content, "../my\u202enotes.txt")
    assert response.status_code == 201, response.content
    told = response.json()
    row = Attachment.objects.get()
    assert told == {
        "id": str(row.pk),
        "kind": "document",
        "url": f"/attachments/{row.pk}/",
        "name": "mynotes.txt",
        "alt": "",
        "media_type": "text/plain",
        "width": 0,
        "height": 0,
        "size": len(content),
        "pages": 1,
        "pages_without_text": 0,
        "tokens": row.tokens,
        "text_url": f"/attachments/{row.pk}/text/",
    }
    assert 3 < row.tokens < len(content)
    assert (folder / row.sha256[:2] / row.sha256).read_bytes() == content
    assert DocumentPage.objects.get().text.strip() == content.decode().strip()


def test_a_person_is_told_how_many_pages_hold_only_pictures(alice_client: Client) -> None:
    scan = pdfs.pages([(pdfs.drawn([(50, 700, "Words")]), ()), (pdfs.WHOLE_PAGE, ()), (pdfs.WHOLE_PAGE, ())])
    told = upload(alice_client, scan, "scan.pdf").json()
    assert (told["pages"], told["pages_without_text"]) == (3, 2)
    assert "2 hold no text, only pictures" in alice_client.get(told["text_url"]).content.decode()


def test_the_content_decides_a_files_type_not_its_name(alice_client: Client) -> None:
    told = upload(alice_client, pictures.png(), "notes.txt").json()
    assert (told["kind"], told["media_type"], "tokens" in told) == ("picture", "image/png", False)


def test_the_same_document_twice_is_one_file_and_one_text(alice_client: Client) -> None:
    ids = {upload(alice_client, b"Hello.").json()["id"] for _ in range(2)}
    assert (len(ids), DocumentPage.objects.count()) == (2, 1)


def test_a_document_is_saved_and_never_opened(alice_client: Client) -> None:
    told = upload(alice_client, b"<script>alert(1)</script>", "évil.txt").json()
    got = alice_client.get(told["url"])
    assert got["Content-Type"] == "application/octet-stream"
    assert got["Content-Disposition"].startswith("attachment; ")
    assert got["Content-Disposition"].endswith("filename*=UTF-8''%C3%A9vil.txt")
    assert got["X-Content-Type-Options"] == "nosniff"
    assert got["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert got["Cross-Origin-Resource-Policy"] == "same-origin"
    assert alice_client.get(told["url"], headers={"If-None-Match": got["ETag"]}).status_code == 304


def test_the_page_of_its_text_shows_what_models_get(alice_client: Client, report: Attachment) -> None:
    first = alice_client.get(text_url(report))
    shown = first.content.decode()
    assert (shown.count("<section"), "script" in first["Content-Security-Policy"]) == (50, False)
    assert "Page 1. &lt;script&gt;" in shown
    assert "<script" not in shown
    assert 'rel="next" href="?page=51"' in shown
    assert 'rel="prev"' not in shown
    assert f'href="/attachments/{report.pk}/" download' in shown
    last = alice_client.get(text_url(report, "?page=101")).content.decode()
    assert 'id="page-101"' in last
    assert 'rel="prev" href="?page=51"' in last
    assert 'rel="next"' not in last


@pytest.mark.parametrize("number", ["0", "121", "-1", "x", "1" * 6, "²", ""])
def test_a_page_that_is_not_there_is_not_found(alice_client: Client, report: Attachment, number: str) -> None:
    assert alice_client.get(text_url(report, f"?page={number}")).status_code == 404


def followed(alice_client: Client, url: str, relation: str) -> list[str]:
    """The texts on the pages of the site from this one on, along its links."""
    found, query = [], url.partition("?")[2]
    while True:
        response = alice_client.get(f"{url.partition('?')[0]}?{query}")
        assert response.status_code == 200
        assert len(response.content) < 250_000
        shown = response.content.decode()
        found.append("".join(re.findall(r'<div class="text" dir="auto">(.*?)</div>', shown, re.DOTALL)))
        link = re.search(rf'rel="{relation}" href="\?([^"]+)"', shown)
        if link is None:
            return found
        query = unescape(link[1])


@pytest.mark.parametrize(
    "line", ["A line of a long text without an end.\n", "x" * 70], ids=["lines", "no break"]
)
def test_a_long_page_is_shown_in_parts(alice_client: Client, alice: User, line: str) -> None:
    long = line * (1_050_000 // len(line)) + "The end."
    stored = document(alice, ["First.", long, "Last."])
    forwards = followed(alice_client, text_url(stored), "next")
    assert "".join(forwards) == f"First.{long}Last."
    assert len(forwards) == 13
    assert all(each.endswith("\n") for each in forwards[1:11]) == line.endswith("\n")
    assert followed(alice_client, text_url(stored, "?page=3"), "prev") == forwards[::-1]
    second = alice_client.get(text_url(stored, "?page=2&part=2")).content.decode()
    assert 'id="page-2"' in second
    assert "Page 2 · Part 2 of 11" in second
    assert 'id="page-2"' in alice_client.get(text_url(stored, "?page=2")).content.decode()


@pytest.mark.parametrize("part", ["0", "12", "-1", "x", "1" * 6, "²", ""])
def test_a_part_that_is_not_there_is_not_found(alice_client: Client, alice: User, part: str) -> None:
    stored = document(alice, ["First.", "x" * 1_050_000])
    assert alice_client.get(text_url(stored, f"?page=2&part={part}")).status_code == 404
    assert alice_client.get(text_url(stored, "?page=1&part=2")).status_code == 404


def test_a_picture_has_no_page_of_text(alice_client: Client) -> None:
    told = upload(alice_client, pictures.png()).json()
    assert alice_client.get(f"/attachments/{told['id']}/text/").status_code == 404


def test_a_review_of_its_text_is_recorded(report: Attachment) -> None:
    erin = User.objects.create_user("erin", is_staff=True)
    erin.user_permissions.add(Permission.objects.get(codename="view_conversation"))
    browser = as_(erin)
    shown = browser.get(f"/admin/chat/conversation/{report.message.conversation_id}/change/")
    assert text_url(report) in shown.content.decode()
    assert "<img" not in shown.content.decode().partition("<main")[2]
    assert browser.get(text_url(report)).status_code == 200
    assert set(ConversationAccess.objects.values_list("reader", flat=True)) == {"erin"}
    forget_readings()


def test_a_sent_document_is_shown_as_a_link_to_its_text(alice_client: Client, report: Attachment) -> None:
    shown = alice_client.get(f"/c/{report.message.conversation_id}/").content.decode()
    assert f'href="{text_url(report)}"' in shown
    assert f'data-id="{report.pk}" data-name="report.pdf" data-pages="120"' in shown
    assert f'src="/attachments/{report.pk}/"' not in shown


def test_a_shared_page_shows_its_text_and_never_its_file(
    client: Client, alice: User, talk: Conversation, report: Attachment
) -> None:
    assert talk.active_leaf_id
    token = links.create(alice, talk.active_leaf_id, "never", shows_name=False)[1]
    address = f"/s/{token}/attachments/{report.pk}/"
    assert f"{address}text/" in client.get(f"/s/{token}/").content.decode()
    text = client.get(f"{address}text/?page=51")
    assert (text.status_code, text["Cache-Control"]) == (200, "no-store")
    assert "Page 51." in text.content.decode()
    assert "download" not in text.content.decode()
    assert client.get(address).status_code == 404
    DocumentPage.objects.filter(number=51).update(text="word " * 50_000)
    text = client.get(f"{address}text/?page=51&part=3")
    assert "Part 3 of 3" in text.content.decode()
    assert len(text.content) < 60_000
    assert client.get(f"{address}text/?page=51&part=4").status_code == 404
    SharedLink.objects.all().delete()
    assert client.get(f"{address}text/").status_code == 404


def test_copies_of_a_conversation_have_its_document(alice: User, talk: Conversation) -> None:
    assert talk.active_leaf_id
    token = links.create(alice, talk.active_leaf_id, "never", shows_name=False)[1]
    for made in (fork(alice, talk, talk.active_leaf_id), copied(User.objects.create_user("bob"), token, "m")):
        copy = Attachment.objects.get(message__conversation=made)
        assert (copy.name, copy.pages, copy.tokens > 0, copy.is_picture) == ("report.pdf", 120, True, False)
    assert DocumentPage.objects.count() == 120


def test_a_document_goes_with_its_last_message(
    alice_client: Client, talk: Conversation, report: Attachment
) -> None:
    talk.delete()
    report.file.delete()
    assert not DocumentPage.objects.exists()


def test_a_quota_counts_documents_too(alice_client: Client, settings: Any) -> None:
    settings.ATTACHMENT_QUOTA_MB = 1
    assert upload(alice_client, b"word " * 120_000).status_code == 201
    refused = upload(alice_client, b"text " * 120_000)
    assert (refused.status_code, refused.json()["error"]["code"]) == (507, "quota_exceeded")
    assert (Attachment.objects.count(), AttachmentFile.objects.count()) == (1, 1)  # no file is written


@pytest.mark.parametrize("kind", ["edit", "regenerate", "send"])
def test_a_long_document_is_ranked_in_no_database_thread(
    alice_client: Client, talk: Conversation, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    threads, real = [], best_passages.rank

    def rank(wanted: best_passages.RankingRequest, question: object) -> best_passages.Ranked:
        threads.append(threading.current_thread().name)
        return real(wanted)

    async def launch(self: Engine, stored: StoredTurn) -> None:
        raise ServiceDraining("enough seen")

    monkeypatch.setattr(best_passages, "rank", rank)
    monkeypatch.setattr(Engine, "launch", launch)
    model = LlmModel("@cf/a/b", "B", window=30_000)
    monkeypatch.setattr(CurrentCatalog, "get", lambda self: Catalog([model], model.id))
    Conversation.objects.update(model=model.id)
    question = talk.messages.get(role="user")
    report = Attachment.objects.get(message=question)
    DocumentPage.objects.update(text="Nothing. " * 2_000)
    Attachment.objects.filter(pk=report.pk).update(tokens=1_000_000)
    paths = {
        "edit": (f"/messages/{question.pk}/edit/", {"content": "What now?"}),
        "regenerate": (f"/messages/{talk.active_leaf_id}/regenerate/", {}),
        "send": (f"/c/{talk.pk}/messages/", {"content": "What now?"}),
    }
    path, body = paths[kind]
    response = alice_client.post(path, body, content_type="application/json")
    assert response.json()["error"]["message"] == "enough seen"
    assert Run.objects.count() == 1
    assert [name.partition("_")[0] for name in threads] == ["ranking"]


def test_a_quota_counts_the_text_of_a_small_file(alice_client: Client, settings: Any) -> None:
    settings.ATTACHMENT_QUOTA_MB = 1
    first, second = (documents.docx(word * 120_000) for word in ("word ", "text "))
    assert len(first) + len(second) < 10_000
    assert upload(alice_client, first, "a.docx").status_code == 201
    refused = upload(alice_client, second, "b.docx")
    assert (refused.status_code, refused.json()["error"]["code"]) == (507, "quota_exceeded")
