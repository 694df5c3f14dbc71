"""Every look into another person's conversation is on record, for good, and its owner can see it."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test import Client

from chat.models import Reading
from tests.admin import seed
from tests.admin.conftest import LIST

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def look(client: Client, talk: object, query: str = "", status: int = 200, **options: str) -> None:
    assert client.get(f"{LIST}{talk.pk}/change/?{query}", **options).status_code == status


def test_a_reading_says_who_whose_what_when_and_from_where(reviewer: Client) -> None:
    talk = seed.talk("alice", "On boats")
    look(reviewer, talk)
    reading = Reading.objects.get()
    assert (reading.reader, reading.reader_key) == ("erin", seed.person("erin").pk)
    assert (reading.owner, reading.owner_key) == ("alice", talk.user_id)
    assert (reading.conversation, reading.title) == (talk.pk, "On boats")
    assert reading.address == "192.0.2.7"
    assert datetime.now(UTC) - reading.at < timedelta(minutes=1)


def test_behind_our_proxy_the_address_is_the_readers_own(reviewer: Client, settings: object) -> None:
    settings.TRUSTED_PROXY = True
    look(reviewer, seed.talk(), headers={"x-forwarded-for": "198.51.100.1, 203.0.113.9"})
    assert Reading.objects.get().address == "203.0.113.9"


def test_each_opening_counts_also_of_another_branch(reviewer: Client, root: Client) -> None:
    talk = seed.talk()
    look(reviewer, talk)
    look(reviewer, talk, f"leaf={seed.messages_of(talk)[0].pk}")
    look(root, talk)
    assert [reading.reader for reading in Reading.objects.order_by("pk")] == ["erin", "erin", "root"]


def test_ones_own_is_nobodys_business(reviewer: Client) -> None:
    look(reviewer, seed.talk("erin"))
    assert not Reading.objects.exists()


def test_what_was_not_shown_was_not_read(reviewer: Client) -> None:
    talk = seed.talk()
    look(reviewer, talk, f"leaf={seed.missing()}", 404)
    reviewer.get(LIST)
    reviewer.get(f"{LIST}?q=Answer")
    reviewer.get(f"{LIST}{talk.pk}/history/")
    assert not Reading.objects.exists()


def test_what_cannot_be_recorded_is_not_shown(reviewer: Client) -> None:
    talk = seed.talk()
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE chat_reading RENAME TO elsewhere")
        with pytest.raises(DatabaseError):
            reviewer.get(f"{LIST}{talk.pk}/change/")
        transaction.set_rollback(True)


@pytest.fixture
def kept(reviewer: Client) -> Reading:
    look(reviewer, seed.talk("alice", "On boats"))
    return Reading.objects.get()


def sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


COPY = "SELECT id, at, reader_key, 'nobody', owner_key, owner, conversation, title, address FROM chat_reading"
INTO = "chat_reading (id, at, reader_key, reader, owner_key, owner, conversation, title, address)"
CHANGES = {
    "update": lambda reading: Reading.objects.update(reader="nobody"),
    "save": lambda reading: reading.save(),
    "delete": lambda reading: reading.delete(),
    "delete of all": lambda reading: Reading.objects.all().delete(),
    "an update in bulk": lambda reading: Reading.objects.bulk_update([reading], ["reader"]),
    "an insert over it": lambda reading: Reading.objects.bulk_create(
        [reading], update_conflicts=True, unique_fields=["id"], update_fields=["reader"]
    ),
    "a replacement": lambda reading: sql(
        f"INSERT {'OR REPLACE ' if connection.vendor == 'sqlite' else ''}INTO {INTO} {COPY}"
    ),
    "emptying": lambda reading: sql(
        "DELETE FROM chat_reading" if connection.vendor == "sqlite" else "TRUNCATE chat_reading"
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_database_itself_refuses(kept: Reading, change: str) -> None:
    kept.reader = "nobody"
    with pytest.raises(IntegrityError), transaction.atomic():
        CHANGES[change](kept)
    assert Reading.objects.get().reader == "erin"


def test_a_reading_outlives_the_conversation_and_the_account(kept: Reading) -> None:
    seed.person("alice").delete()
    assert Reading.objects.get().owner == "alice"


def test_an_empty_table_can_be_emptied() -> None:
    CHANGES["emptying"](None)


@pytest.mark.django_db(transaction=True)
def test_the_migration_goes_back_and_forth() -> None:
    call_command("migrate", "chat", "0003_invites", verbosity=0)
    assert "chat_reading" not in connection.introspection.table_names()
    call_command("migrate", "chat", verbosity=0)
    talk = {"reader_key": 1, "reader": "r", "owner_key": 2, "owner": "o", "title": "t"}
    try:
        with transaction.atomic():
            Reading.objects.create(conversation=seed.missing(), **talk)
            with pytest.raises(IntegrityError), transaction.atomic():
                Reading.objects.update(reader="nobody")
            raise InterruptedError  # what was created here could not be deleted
    except InterruptedError:
        assert not Reading.objects.exists()


def test_administrators_see_who_read_what(root: Client, kept: Reading) -> None:
    page = root.get("/admin/chat/reading/").content.decode()
    for said in ("erin", "alice", "On boats", "192.0.2.7", f"{LIST}{kept.conversation}/change/"):
        assert said in page
    assert re.search(r"1 result", root.get("/admin/chat/reading/?q=boats").content.decode())
