"""Every look into another person's conversation is on record, for good, and its owner can see it."""

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test import Client

from chat.admin.changelist import MAX_SEARCH_CHARS, MAX_SEARCH_TERMS
from chat.models import ConversationAccess, ConversationAccessOwner
from tests.admin import seed
from tests.admin.conftest import LIST

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def look(client: Client, talk: object, query: str = "", status: int = 200, **options: str) -> None:
    assert client.get(f"{LIST}{talk.pk}/change/?{query}", **options).status_code == status


def test_a_reading_says_who_whose_what_when_and_from_where(reviewer: Client) -> None:
    talk = seed.talk("alice", "On boats")
    look(reviewer, talk)
    reading = ConversationAccess.objects.get()
    assert (reading.reader, reading.reader_key) == ("erin", seed.person("erin").pk)
    assert (reading.owner, reading.owner_key) == ("alice", talk.user_id)
    assert (reading.conversation, reading.title) == (talk.pk, "On boats")
    assert reading.address == "192.0.2.7"
    assert datetime.now(UTC) - reading.at < timedelta(minutes=1)


def test_behind_our_proxy_the_address_is_the_readers_own(reviewer: Client, settings: object) -> None:
    settings.TRUSTED_PROXY = 1
    look(reviewer, seed.talk(), headers={"x-forwarded-for": "198.51.100.1, 203.0.113.9"})
    assert ConversationAccess.objects.get().address == "203.0.113.9"


def test_each_opening_counts_also_of_another_branch(reviewer: Client, administrator: Client) -> None:
    talk = seed.talk()
    look(reviewer, talk)
    look(reviewer, talk, f"leaf={seed.messages_of(talk)[0].pk}")
    look(administrator, talk)
    assert [reading.reader for reading in ConversationAccess.objects.order_by("pk")] == [
        "erin",
        "erin",
        "root",
    ]


def test_ones_own_is_nobodys_business(reviewer: Client) -> None:
    look(reviewer, seed.talk("erin"))
    assert not ConversationAccess.objects.exists()


def test_conversations_not_shown_are_not_recorded(reviewer: Client) -> None:
    talk = seed.talk()
    look(reviewer, talk, f"leaf={seed.missing()}", 404)
    reviewer.get(f"{LIST}{talk.pk}/history/")
    assert not ConversationAccess.objects.exists()


class TestALook:
    """A look at the list of conversations, and at the results of a search there."""

    def test_a_search_is_one_entry_with_words_and_owners(self, reviewer: Client) -> None:
        seed.talk("alice", "Sailing")
        hers = {str(seed.talk("alice", "On boats").pk), str(seed.talk("alice", "More boats").pk)}
        his, own = seed.talk("bob", "No boats"), seed.talk("erin", "Her own boats")
        page = reviewer.get(f"{LIST}?q=boats").content.decode()
        assert "Her own boats" in page
        entry = ConversationAccess.objects.get()
        assert (entry.kind, entry.words, entry.reader, entry.address) == (
            "list",
            "boats",
            "erin",
            "192.0.2.7",
        )
        assert (entry.owner_key, entry.conversation, entry.title) == (None, None, "")
        shown = {owner.owner: set(owner.conversations) for owner in entry.owners.all()}
        assert shown == {"alice": hers, "bob": {str(his.pk)}}
        assert not entry.owners.filter(owner_key=own.user_id).exists()

    def test_that_finds_nothing_is_an_entry_without_owners(self, reviewer: Client) -> None:
        seed.talk("alice", "On boats")
        for query in ("nobody-said-this", "nobody-said-this", "nor this"):
            reviewer.get(LIST, {"q": query})
        entries = ConversationAccess.objects.order_by("pk")
        assert list(entries.values_list("words", flat=True)) == ["nobody-said-this", "nor this"]
        assert not ConversationAccessOwner.objects.exists()

    def test_of_the_list_alone_is_an_entry_without_words(self, reviewer: Client) -> None:
        seed.talk("alice")
        reviewer.get(LIST)
        assert ConversationAccess.objects.get().words == ""
        assert [owner.owner for owner in ConversationAccess.objects.get().owners.all()] == ["alice"]

    def test_of_the_same_again_is_no_other_entry_for_ten_minutes(
        self, reviewer: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seed.talk("alice", "On boats")
        for query in ("", "", "?q=boats", "?q=boats", "?q=on", "?q=boats"):
            reviewer.get(LIST + query)
        assert list(ConversationAccess.objects.order_by("pk").values_list("words", flat=True)) == [
            "",
            "boats",
            "on",
        ]
        seed.talk("bob", "Boats of bob")
        reviewer.get(f"{LIST}?q=boats")
        assert ConversationAccess.objects.count() == 4
        monkeypatch.setattr("chat.accounts.access_log.REPEATED_WITHIN", timedelta(0))
        reviewer.get(f"{LIST}?q=boats")
        assert ConversationAccess.objects.count() == 5

    def test_by_another_reader_is_another_entry(self, reviewer: Client, administrator: Client) -> None:
        seed.talk("alice")
        reviewer.get(LIST)
        administrator.get(LIST)
        assert [entry.reader for entry in ConversationAccess.objects.order_by("pk")] == ["erin", "root"]

    def test_at_ones_own_alone_is_nobodys_business(self, reviewer: Client) -> None:
        seed.talk("erin")
        reviewer.get(LIST)
        assert not ConversationAccess.objects.exists()

    def test_is_announced_before(self, reviewer: Client) -> None:
        assert "is recorded with your name" in reviewer.get("/admin/").content.decode()
        assert "is recorded with your name" in reviewer.get(LIST).content.decode()

    def test_that_cannot_be_recorded_is_not_shown(self, reviewer: Client) -> None:
        seed.talk("alice", "On boats")
        with transaction.atomic():
            sql("ALTER TABLE chat_conversationaccessowner RENAME TO elsewhere")
            with pytest.raises(DatabaseError):
                reviewer.get(LIST)
            transaction.set_rollback(True)

    def test_is_bounded_as_the_search_is_itself(self, reviewer: Client) -> None:
        seed.talk("alice", "a" * 40)
        reviewer.get(f"{LIST}?q={'a ' * 1500}")
        assert ConversationAccess.objects.get().words == " ".join("a" * MAX_SEARCH_TERMS)

    def test_holds_the_words_however_they_are_padded(self, reviewer: Client) -> None:
        seed.talk("alice", "On boats", question="I think I am pregnant")
        reviewer.get(LIST, {"q": " " * 1000 + "pregnant"})
        assert ConversationAccess.objects.get().words == "pregnant"

    def test_searches_for_nothing_that_it_cannot_record(self, reviewer: Client) -> None:
        seed.talk("alice", "On boats", question="a" * 2000)
        found = reviewer.get(LIST, {"q": "a" * 1000 + " pregnant"}).context["cl"].result_list
        assert len(found) == 1
        assert ConversationAccess.objects.get().words == "a" * MAX_SEARCH_CHARS

    def test_stays_for_good_with_its_owners(self, reviewer: Client) -> None:
        seed.talk("alice")
        reviewer.get(LIST)
        changes = [
            lambda: ConversationAccessOwner.objects.update(owner="nobody"),
            lambda: ConversationAccessOwner.objects.all().delete(),
            lambda: sql("DELETE FROM chat_conversationaccessowner"),
            lambda: ConversationAccess.objects.update(words="nothing"),
        ]
        for change in changes:
            with pytest.raises(IntegrityError), transaction.atomic():
                change()
        assert ConversationAccessOwner.objects.get().owner == "alice"

    def test_is_seen_by_administrators(self, reviewer: Client, administrator: Client) -> None:
        for name in ("alice", "bob", "carol", "dave", "frank", "grace"):
            seed.talk(name, "On boats")
        reviewer.get(f"{LIST}?q=boats")
        page = administrator.get("/admin/chat/conversationaccess/").content.decode()
        assert "Search for “<bdi>boats</bdi>”" in page
        assert "<bdi>frank</bdi> and 1 more" in page
        for query in ("q=boats", "q=grace", "kind__exact=list"):
            assert re.search(
                r"1 result|1 reading",
                administrator.get(f"/admin/chat/conversationaccess/?{query}").content.decode(),
            )


class TestWhatStandsBeforeAndAfter:
    """A transcript's links to its neighbours say what a search found."""

    @pytest.fixture
    def hers(self, reviewer: Client) -> object:
        return seed.talk("alice", "On boats", question="I think I am pregnant")

    @pytest.mark.parametrize("whose", ["erin", "bob"])
    def test_is_recorded_as_the_list_is(self, reviewer: Client, hers: object, whose: str) -> None:
        other = seed.talk(whose, "pregnant")
        page = reviewer.get(f"{LIST}{other.pk}/change/", {"_changelist_filters": "q=pregnant"})
        assert hers.pk in (page.context["previous"], page.context["next"])
        entry = ConversationAccess.objects.get(kind="list")
        assert (entry.words, entry.reader) == ("pregnant", "erin")
        assert [(owner.owner, owner.conversations) for owner in entry.owners.all()] == [
            ("alice", [str(hers.pk)])
        ]

    def test_of_a_list_on_record_is_no_other_entry(self, reviewer: Client, hers: object) -> None:
        own = seed.talk("erin", "pregnant")
        reviewer.get(LIST, {"q": "pregnant"})
        for query in ("q=pregnant", "q=++pregnant"):
            look(reviewer, own, f"_changelist_filters={quote(query)}")
        assert ConversationAccess.objects.count() == 1

    def test_that_cannot_be_recorded_is_not_shown(self, reviewer: Client, hers: object) -> None:
        own = seed.talk("erin", "pregnant")
        with transaction.atomic():
            sql("ALTER TABLE chat_conversationaccessowner RENAME TO elsewhere")
            with pytest.raises(DatabaseError):
                reviewer.get(f"{LIST}{own.pk}/change/", {"_changelist_filters": "q=pregnant"})
            transaction.set_rollback(True)


LOOKUPS = ["title__icontains=boats", "title=On boats", "system_prompt__contains=a", "user__email__contains=a"]


@pytest.mark.parametrize("lookup", LOOKUPS)
def test_nothing_is_searched_beside_the_search(reviewer: Client, lookup: str) -> None:
    """The record has words of the search alone."""
    seed.talk("alice", "On boats")
    assert reviewer.get(f"{LIST}?{lookup}").status_code in (302, 400)
    assert not ConversationAccess.objects.exists()


def test_a_view_that_cannot_be_recorded_is_refused(reviewer: Client) -> None:
    talk = seed.talk()
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE chat_conversationaccess RENAME TO elsewhere")
        with pytest.raises(DatabaseError):
            reviewer.get(f"{LIST}{talk.pk}/change/")
        transaction.set_rollback(True)


@pytest.fixture
def kept(reviewer: Client) -> ConversationAccess:
    look(reviewer, seed.talk("alice", "On boats"))
    return ConversationAccess.objects.get()


def sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


COPIED = "owner_key, owner, conversation, title, address, kind, words"
COPY = f"SELECT id, at, reader_key, 'nobody', {COPIED} FROM chat_conversationaccess"
INTO = f"chat_conversationaccess (id, at, reader_key, reader, {COPIED})"
CHANGES = {
    "update": lambda reading: ConversationAccess.objects.update(reader="nobody"),
    "save": lambda reading: reading.save(),
    "delete": lambda reading: reading.delete(),
    "delete of all": lambda reading: ConversationAccess.objects.all().delete(),
    "an update in bulk": lambda reading: ConversationAccess.objects.bulk_update([reading], ["reader"]),
    "an insert over it": lambda reading: ConversationAccess.objects.bulk_create(
        [reading], update_conflicts=True, unique_fields=["id"], update_fields=["reader"]
    ),
    "a replacement": lambda reading: sql(
        f"INSERT {'OR REPLACE ' if connection.vendor == 'sqlite' else ''}INTO {INTO} {COPY}"
    ),
    "emptying": lambda reading: sql(
        "DELETE FROM chat_conversationaccess"
        if connection.vendor == "sqlite"
        else "TRUNCATE chat_conversationaccess"
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_database_itself_refuses(kept: ConversationAccess, change: str) -> None:
    kept.reader = "nobody"
    with pytest.raises(IntegrityError), transaction.atomic():
        CHANGES[change](kept)
    assert ConversationAccess.objects.get().reader == "erin"


def test_a_reading_outlives_the_conversation_and_the_account(kept: ConversationAccess) -> None:
    seed.person("alice").delete()
    assert ConversationAccess.objects.get().owner == "alice"


def test_an_empty_table_can_be_emptied() -> None:
    CHANGES["emptying"](None)


def test_administrators_see_who_read_what(administrator: Client, kept: ConversationAccess) -> None:
    page = administrator.get("/admin/chat/conversationaccess/").content.decode()
    for text in ("erin", "alice", "On boats", "192.0.2.7", f"{LIST}{kept.conversation}/change/"):
        assert text in page
    page = administrator.get("/admin/chat/conversationaccess/?q=boats").content.decode()
    assert "\n1 reading\n" in page
