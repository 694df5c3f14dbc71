"""The uploaded pictures of assistants: made small squares, shown to their users only, copied and deleted."""

import io
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from PIL import Image

from chat.files import files, uploads
from chat.files.decoding import EncodedPicture
from chat.library import assistants
from chat.library.assistants import AssistantContent
from chat.limits import MAX_ASSISTANT_DOCUMENTS
from chat.models import Assistant, AssistantVersion, Attachment, Conversation, User
from chat.retention.kinds import prune
from tests.files import pictures

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
HTML = {"HTTP_ACCEPT": "text/html"}
PAGES = "/settings/assistants/"


@pytest.fixture(autouse=True)
def folder(attachments: Path) -> Path:
    return attachments


def image(owner: User, side: int = 128) -> Attachment:
    return uploads.store_picture(
        owner, "face.png", EncodedPicture(pictures.png(side, side), "image/png", side, side)
    )


def photo(name: str = "../me.jpg", content: bytes | None = None) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content or pictures.jpeg(400, 200))


def form(**fields: Any) -> dict[str, Any]:
    return {"name": "Cook", **fields}


def current(user: User) -> AssistantVersion:
    found = Assistant.objects.get(owner=user).current
    assert found
    return found


def test_a_picture_becomes_a_small_square_and_is_shown(alice_client: Client, alice: User) -> None:
    made = alice_client.post(PAGES, form(image_file=photo()), **HTML)
    assert made.status_code == 303, made.content
    version = current(alice)
    stored = version.image
    assert (stored.width, stored.height, stored.name, stored.media_type) == (128, 128, "me.jpg", "image/jpeg")
    assert Image.open(io.BytesIO(files.read(stored.sha256))).size == (128, 128)
    shown = f'src="/attachments/{stored.pk}/"'
    one = f"{PAGES}{version.assistant_id}/"
    for path in (PAGES, one, "/", f"/?assistant={version.assistant_id}"):
        assert shown in alice_client.get(path, **HTML).content.decode()
    talk = Conversation.objects.create(user=alice, title="t", model="m", assistant_version=version)
    assert shown in alice_client.get(f"/c/{talk.pk}/", **HTML).content.decode()
    assert alice_client.get(f"/attachments/{stored.pk}/")["Content-Type"] == "image/jpeg"
    alice_client.post(one, form(name="Chef", image=str(stored.pk)), **HTML)
    assert current(alice).image == stored
    alice_client.post(one, form(name="Chef", picture="🍲"), **HTML)
    assert current(alice).image is None
    assert shown not in alice_client.get(PAGES, **HTML).content.decode()


def test_a_refused_form_keeps_its_picture(alice_client: Client, alice: User) -> None:
    response = alice_client.post(PAGES, form(name=" ", image_file=photo()), **HTML)
    assert response.status_code == 400
    stored = Attachment.objects.get()
    assert f'name="image" value="{stored.pk}" checked' in response.content.decode()


@pytest.mark.parametrize(
    ("content", "status"),
    [(b"%PDF-1.7 not a picture", 415), (pictures.png()[:60], 422), (b"<svg onload='alert(1)'/>", 415)],
    ids=["document", "broken", "svg"],
)
def test_a_file_that_is_no_picture_is_refused(alice_client: Client, content: bytes, status: int) -> None:
    response = alice_client.post(PAGES, form(image_file=photo("a.png", content)), **HTML)
    assert response.status_code == status
    assert 'role="alert"' in response.content.decode()
    assert not Attachment.objects.exists()
    assert not Assistant.objects.exists()


def test_one_picture_comes_with_a_form(alice_client: Client) -> None:
    assert alice_client.post(PAGES, form(image_file=[photo(), photo()]), **HTML).status_code == 400
    assert alice_client.post("/c/", {"content": "hello", "image_file": photo()}, **HTML).status_code == 400
    assert not Attachment.objects.exists()


def test_a_picture_fits_beside_the_most_documents(alice_client: Client, alice: User) -> None:
    documents = [
        SimpleUploadedFile(f"{n}.txt", b"Chess has %d kings." % n) for n in range(MAX_ASSISTANT_DOCUMENTS)
    ]
    response = alice_client.post(PAGES, form(image_file=photo(), file=documents), **HTML)
    assert response.status_code == 303, response.content
    assert (
        Attachment.objects.exclude(pages=None).filter(media_type="text/plain").count()
        == MAX_ASSISTANT_DOCUMENTS
    )
    assert current(alice).number == 1


def test_only_squares_of_ones_own_can_be_named(alice_client: Client, alice: User) -> None:
    bob = User.objects.create_user("bob")
    for wrong in (image(alice, 64).pk, image(bob).pk, uuid.uuid4(), "x", 1):
        sent = {"name": "Cook", "image": str(wrong) if wrong != 1 else 1}
        response = alice_client.post(PAGES, sent, content_type="application/json")
        assert response.status_code in (400, 404), response.content
    assert not Assistant.objects.exists()
    sent = {"name": "Cook", "image": str(image(alice).pk)}
    assert alice_client.post(PAGES, sent, content_type="application/json").status_code == 201


def test_nothing_is_offered_where_files_are_off(alice_client: Client, settings: Any) -> None:
    settings.ATTACHMENTS = False
    assert "image_file" not in alice_client.get(f"{PAGES}new/", **HTML).content.decode()
    assert alice_client.post(PAGES, form(image_file=photo()), **HTML).status_code == 400


def test_it_is_served_to_those_who_may_use_the_assistant(alice_client: Client, alice: User) -> None:
    staff = User.objects.create_user("carol", is_staff=True, is_superuser=True)
    face = image(staff)
    cook = assistants.create(staff, AssistantContent("Cook", image=face.pk))
    url = f"/attachments/{face.pk}/"
    assert alice_client.get(url).status_code == 404
    assistants.publish(staff, cook.pk, everybody=True, groups=[])
    assert alice_client.get(url).status_code == 200
    assert alice_client.delete(url).status_code == 404
    mine = assistants.duplicate(alice, cook.pk)
    assert mine.current
    assert mine.current.image
    assert (mine.current.image.owner, mine.current.image.sha256) == (alice, face.sha256)
    assistants.publish(staff, cook.pk, everybody=False, groups=[])
    assert alice_client.get(url).status_code == 404
    assert alice_client.get(f"/attachments/{mine.current.image_id}/").status_code == 200


def test_it_goes_with_the_last_version_that_shows_it(alice: User) -> None:
    face = image(alice)
    cook = assistants.create(alice, AssistantContent("Cook", image=face.pk))
    assistants.edit(alice, cook.pk, AssistantContent("Chef", image=face.pk))
    then = timezone.now() - timedelta(days=2)

    def age_and_prune() -> None:
        AssistantVersion.objects.update(created=then)
        Attachment.objects.update(created=then)
        prune(lambda: False)

    age_and_prune()
    assert Attachment.objects.count() == 1
    assistants.edit(alice, cook.pk, AssistantContent("Chef"))
    age_and_prune()
    assert not Attachment.objects.exists()


def test_it_outlives_the_account_of_a_published_one(alice: User) -> None:
    staff = User.objects.create_user("carol", is_staff=True, is_superuser=True)
    cook = assistants.create(staff, AssistantContent("Cook", image=image(staff).pk))
    assistants.publish(staff, cook.pk, everybody=True, groups=[])
    staff.delete()
    prune(lambda: False)
    found = assistants.find(alice, cook.pk).current
    assert found
    assert found.image
