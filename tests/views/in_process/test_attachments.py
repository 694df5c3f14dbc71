"""Pictures over HTTP: the upload, the bytes, the alternative text, the removal, and each refusal."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from chat.models import Attachment, AttachmentFile, Conversation, Message, User
from tests.files import pictures

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
JSON = {"HTTP_ACCEPT": "application/json"}


@pytest.fixture(autouse=True)
def folder(attachments: Path) -> Path:
    return attachments


def upload(alice_client: Client, content: bytes, name: str = "photo.jpg", **headers: str) -> Any:
    file = SimpleUploadedFile(name, content, "text/html")
    return alice_client.post("/attachments/", {"file": file}, **{**JSON, **headers})


def test_a_picture_is_stored_by_the_hash_of_its_new_bytes(alice_client: Client, folder: Path) -> None:
    response = upload(alice_client, pictures.jpeg(300, 200))
    assert response.status_code == 201, response.content
    told = response.json()
    assert (told["media_type"], told["width"], told["height"]) == ("image/jpeg", 300, 200)
    got = alice_client.get(told["url"])
    assert (got.status_code, got["Content-Type"]) == (200, "image/jpeg")
    assert pictures.opened(got.content).size == (300, 200)
    row = Attachment.objects.get()
    assert row.sha256 == hashlib.sha256(got.content).hexdigest()
    assert (folder / row.sha256[:2] / row.sha256).read_bytes() == got.content
    assert told["size"] == len(got.content)


def test_the_bytes_come_under_headers_that_let_them_do_nothing(alice_client: Client) -> None:
    told = upload(alice_client, pictures.png(), "évil\u202egnp.html").json()
    got = alice_client.get(told["url"])
    assert got["Content-Type"] == "image/png"
    assert got["X-Content-Type-Options"] == "nosniff"
    assert got["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert got["Cross-Origin-Resource-Policy"] == "same-origin"
    assert got["Cache-Control"] == "private, max-age=86400, immutable"
    assert got["Content-Disposition"].endswith("filename*=UTF-8''%C3%A9vilgnp.png")
    again = alice_client.get(told["url"], headers={"If-None-Match": got["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    head = alice_client.head(told["url"])
    assert (head.status_code, head.content, head["Content-Length"]) == (200, b"", got["Content-Length"])


def test_the_same_picture_twice_is_one_file(alice_client: Client) -> None:
    upload(alice_client, pictures.jpeg())
    upload(alice_client, pictures.jpeg())
    assert (Attachment.objects.count(), AttachmentFile.objects.count()) == (2, 1)


@pytest.mark.parametrize("method", ["post", "patch"])
def test_the_alternative_text_can_be_set_also_when_sent(
    alice_client: Client, alice: User, method: str
) -> None:
    told = upload(alice_client, pictures.jpeg()).json()
    send(alice, told["id"])
    response = getattr(alice_client, method)(told["url"], {"alt": " A grey cat "}, "application/json")
    assert (response.status_code, response.json()["alt"]) == (200, "A grey cat")
    response = getattr(alice_client, method)(told["url"], {"alt": "x" * 501}, "application/json")
    assert response.status_code == 413
    assert Attachment.objects.get().alt == "A grey cat"


def send(alice: User, attachment: str) -> Message:
    talk = Conversation.objects.create(user=alice, title="Cats", model="m")
    question = Message.objects.create(conversation=talk, role="user", text="What is it?")
    Attachment.objects.filter(pk=attachment).update(message=question)
    return question


def test_only_an_unsent_picture_can_be_removed(alice_client: Client, alice: User) -> None:
    unsent, sent = (upload(alice_client, pictures.jpeg()).json() for _ in range(2))
    send(alice, sent["id"])
    assert alice_client.delete(unsent["url"]).status_code == 204
    refused = alice_client.delete(sent["url"])
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "attachment_sent")
    assert alice_client.get(unsent["url"]).status_code == 404
    assert alice_client.get(sent["url"]).status_code == 200


def test_a_call_without_its_token_or_with_none_is_refused(alice: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    refused = upload(strict, pictures.jpeg())
    assert (refused.status_code, Attachment.objects.count()) == (403, 0)
    token = "t" * 32
    strict.cookies["csrftoken"] = token
    assert upload(strict, pictures.jpeg(), HTTP_X_CSRFTOKEN=token).status_code == 201
    assert upload(Client(), pictures.jpeg()).status_code == 401


def test_a_storage_that_fails_is_told(
    alice_client: Client, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = upload(alice_client, pictures.jpeg()).json()["url"]

    def fail(*_args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("chatsite.attachment_storage.tempfile.mkstemp", fail)
    refused = upload(alice_client, pictures.png())
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "storage_unavailable")
    assert Attachment.objects.count() == 1
    for path in folder.rglob("*"):
        if path.is_file():
            path.unlink()
    assert alice_client.get(url).status_code == 404


@pytest.mark.parametrize("content", [pictures.jpeg(), b"a text"])
def test_a_system_that_cannot_confine_readers_takes_no_file(
    alice_client: Client, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.files.confinement.UNCONFINED_EXITS", {"seccomp": 0})
    refused = upload(alice_client, content)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unconfined_files")
    assert Attachment.objects.count() == 0


def test_a_site_without_pictures_takes_none(alice_client: Client, settings: Any) -> None:
    settings.ATTACHMENTS = False
    assert upload(alice_client, pictures.jpeg()).status_code == 404
