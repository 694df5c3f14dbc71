"""The same bytes read twice: people get what was read for them, and keep it."""

import io

import pytest

from chat.files import uploads
from chat.files.extraction import Extracted
from chat.files.passages.pages import all_pages, key_of, some_pages
from chat.models import Attachment, DocumentPage, User

pytestmark = [
    pytest.mark.database,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("attachments"),
]
CONTENT = b"the same bytes"


def read(name: str, *pages: str) -> Attachment:
    owner = User.objects.get_or_create(username=name)[0]
    return uploads.store_document(owner, "a.txt", io.BytesIO(CONTENT), Extracted("text/plain", pages))


def texts(document: Attachment) -> list[str]:
    document.refresh_from_db()
    (found,) = all_pages([document]).values()
    shown = [each.text for each in some_pages(document, 1).pages]
    assert shown == [each.text for each in found]
    return shown


@pytest.mark.parametrize("name", ["alice", "bob"])
def test_a_better_reading_does_not_change_the_one_before(name: str) -> None:
    """As after an upgrade that reads more of a file."""
    before = read("alice", "one", "two")
    after = read(name, "One", "Two", "Three")
    assert (texts(before), texts(after)) == (["one", "two"], ["One", "Two", "Three"])
    assert key_of(before) != key_of(after)
    fewer = read(name, "all")
    assert (texts(fewer), texts(before)) == (["all"], ["one", "two"])


def test_a_document_from_before_readings_keeps_its_text() -> None:
    old = read("alice", "one")
    DocumentPage.objects.update(reading="")
    Attachment.objects.update(reading="")
    new = read("bob", "One")
    assert (texts(old), texts(new)) == (["one"], ["One"])


def test_the_same_reading_is_stored_once_and_goes_with_copies() -> None:
    first, second = read("alice", "one"), read("bob", "one")
    assert texts(first) == texts(second)
    assert DocumentPage.objects.count() == 1
    assert second.owner_id
    copy = second.copy(owner_id=second.owner_id, message_id=None, position=0)
    copy.save()
    assert texts(copy) == ["one"]
