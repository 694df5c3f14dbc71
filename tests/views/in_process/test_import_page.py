"""The page of an import: what its preview and its end say, and why an upload was refused."""

import html
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from chat.models import Conversation, ImportJob, Message, User
from chat.transfer import import_files
from chat.views.settings import data
from tests.support.clients import as_

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
State = ImportJob.State
PAGE = "/settings/data/"
HTML = {"HTTP_ACCEPT": "text/html"}
COUNTED = dict.fromkeys(("conversations", "messages", "grown", "added", "known"), 0)
EMPTY: dict[str, Any] = {"sources": ["claude"], "skipped": {}, **COUNTED}


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path


@pytest.fixture
def hers(alice: User) -> Client:
    return as_(alice)


def shown(client: Client, path: str = PAGE) -> str:
    """The words of the page, without tags."""
    text = re.sub(r"<[^>]+>", "", client.get(path, **HTML).content.decode())
    return " ".join(html.unescape(text).split())


def job(alice: User, state: State, preview: dict[str, Any], **fields: Any) -> ImportJob:
    counted = EMPTY | preview
    return ImportJob.objects.create(
        user=alice, state=state, file_name="x.json", size=1, preview=counted, **fields
    )


def test_one_conversation_of_several_messages(hers: Client, alice: User) -> None:
    job(alice, State.READY, {"conversations": 1, "messages": 2})
    assert "1 chat is new. 2 messages in all. Start import" in shown(hers)


def test_conversations_in_the_trash_do_not_count_as_present(hers: Client, alice: User) -> None:
    job(alice, State.READY, {"conversations": 2, "messages": 4, "trashed": 1})
    page = shown(hers)
    assert "1 chat is in the trash and stays there." in page
    assert "here already" not in page


@pytest.mark.parametrize(
    ("preview", "words"),
    [
        ({"known": 2}, "Nothing in this file is new. 2 chats are here already and stay as they are."),
        ({"trashed": 2}, "Nothing in this file is new. 2 chats are in the trash and stay there."),
    ],
)
def test_a_file_without_anything_new_is_no_error(
    preview: dict[str, int], words: str, hers: Client, alice: User
) -> None:
    job(alice, State.REFUSED, preview, problem="known")
    assert words in shown(hers)
    assert '<p class="error">' not in hers.get(PAGE, **HTML).content.decode()


def test_a_file_that_cannot_be_imported_is_an_error(hers: Client, alice: User) -> None:
    job(alice, State.REFUSED, {}, problem="nothing")
    assert '<p class="error">No chat of this file' in hers.get(PAGE, **HTML).content.decode()


def test_the_end_tells_that_conversations_got_new_messages(hers: Client, alice: User) -> None:
    job(alice, State.DONE, {"conversations": 1, "grown": 2, "added": 3}, stored=3)
    assert "3 chats were imported or got new messages." in shown(hers)


def test_the_end_tells_what_became_of_assistants(hers: Client, alice: User) -> None:
    job(alice, State.DONE, {"assistants": 2}, processed=2)
    assert "2 assistants were imported. Your assistants" in shown(hers)
    for processed, words in enumerate(("Cancelled. Nothing was imported.", "Stopped. Your assistants")):
        job(alice, State.STOPPED, {"assistants": 2}, processed=processed)
        assert words in shown(hers)


@pytest.mark.parametrize("state", [State.READY, State.DONE, State.STOPPED, State.REFUSED])
def test_what_is_left_out_is_counted_and_named_by_kind(
    hers: Client, alice: User, state: ImportJob.State
) -> None:
    found = {
        "recording": {"count": 1, "names": ["Voice"]},
        "attachment": {"count": 3, "names": ["cat.jpg", "<b>.pdf"]},
        "unknown": {"count": 1, "names": []},
    }
    checked = state in (State.READY, State.REFUSED)
    more = {"without": found} if checked else {"lost": found, "without": {}}
    job(alice, state, {"conversations": 1, **more}, stored=1, problem="damaged" * (state == State.REFUSED))
    page = shown(hers)
    assert "because it is missing from the file, can’t be read or can’t be stored here:" in page
    attachments, recordings = page.index("Attachments (3)"), page.index("Recordings (1)")
    assert "<b>.pdfand 1 more" in page[attachments:recordings]


def test_the_end_of_new_ones_only_which_no_late_stop_changes(hers: Client, alice: User) -> None:
    ended = job(alice, State.DONE, {"conversations": 3}, stored=3)
    assert hers.post(f"{PAGE}import/stop/", {"job": str(ended.pk)}, **HTML).status_code == 303
    assert "byte 3 chats were imported. Show" in shown(hers)


def test_an_imported_reply_without_a_model_has_a_heading(hers: Client, alice: User) -> None:
    talk = Conversation.objects.create(user=alice, title="A poem", model="m")
    question = Message.objects.create(conversation=talk, role="user", text="Write")
    talk.active_leaf = Message.objects.create(
        conversation=talk, parent=question, role="assistant", text="Roses"
    )
    talk.save()
    assert '<h2 class="hidden">Reply</h2>' in hers.get(f"/c/{talk.pk}/", **HTML).content.decode()


def send(client: Client, user: User, data: bytes = b"[{}]", permit: str = "", **headers: str) -> Any:
    address = f"{PAGE}import/?permit={permit or import_files.permit(user.pk)}"
    return client.post(address, {"file": SimpleUploadedFile("x.json", data)}, **{**HTML, **headers})


def refused(response: Any, client: Client) -> str:
    """Return what the page says to which an upload was led back."""
    assert (response.status_code, response["Location"].partition("?")[0]) == (303, PAGE)
    return shown(client, response["Location"])


def test_an_empty_file_leads_back_to_the_form(hers: Client, alice: User) -> None:
    page = refused(send(hers, alice, b""), hers)
    assert "Choose a file that isn’t empty." in page
    assert "Upload and check" in page
    assert send(hers, alice, b"", HTTP_ACCEPT="application/json").status_code == 400


def test_a_second_import_leads_to_the_one_that_is_open(hers: Client, alice: User) -> None:
    assert send(hers, alice)["Location"] == f"{PAGE}#import"
    page = refused(send(hers, alice), hers)
    assert "Another import is open. Finish or cancel it first." in page
    assert "Checking the file." in page
    assert send(hers, alice, HTTP_ACCEPT="application/json").status_code == 409
    assert ImportJob.objects.count() == 1


def test_a_page_that_was_open_for_too_long_leads_to_a_new_one(hers: Client, alice: User) -> None:
    page = refused(send(hers, alice, permit="1:x:y"), hers)
    assert "This page had expired. Choose the file again." in page
    assert send(hers, alice, permit="1:x:y", HTTP_ACCEPT="application/json").status_code == 403


def test_twenty_imports_a_day_are_enough(hers: Client, alice: User) -> None:
    for _ in range(20):
        assert data._check_room(alice) is None
        job(alice, State.DONE, {})
    assert "You have started 20 imports today." in refused(send(hers, alice), hers)
    response = send(hers, alice, HTTP_ACCEPT="application/json")
    assert (response.status_code, response["Retry-After"]) == (429, "3600")


def test_an_unknown_problem_says_nothing(hers: Client) -> None:
    assert 'role="alert"' not in hers.get(f"{PAGE}?problem=%3Cb%3E", **HTML).content.decode()


@pytest.mark.parametrize(
    ("path", "page"),
    [
        (f"{PAGE}import/", PAGE),
        (f"{PAGE}import/start/", PAGE),
        ("/settings/", "/settings/"),
        (f"/settings/shared/{uuid.UUID(int=1)}/revoke/", "/settings/shared/"),
        (f"/messages/{uuid.UUID(int=1)}/share/", f"/messages/{uuid.UUID(int=1)}/share/"),
        (f"/messages/{uuid.UUID(int=1)}/delete/", "/"),
    ],
)
def test_signing_in_leads_back_to_the_page_of_the_form(path: str, page: str) -> None:
    """The session ended while the form was open."""
    response = Client().post(path, {}, **HTML)
    assert (response.status_code, response["Location"]) == (302, f"/accounts/login/?next={page}")
