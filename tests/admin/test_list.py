"""The list of everybody's conversations: what it says, what it finds, what it costs."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.utils import timezone

from chat.admin import filters
from chat.models import Conversation, Feedback, SharedLink
from tests.admin import seed
from tests.admin.conftest import LIST

pytestmark = [pytest.mark.database, pytest.mark.django_db]
Listed = Callable[[str], list[str]]


def test_a_row_says_who_with_what_how_much_and_how_it_ended(reviewer: Client) -> None:
    talk = seed.talk("alice", "On boats", 3, reply="A secret.")
    seed.judge(seed.messages_of(talk)[1], True)
    seed.judge(seed.messages_of(talk)[3], False)
    page = reviewer.get(LIST).content.decode()
    for text in ("On boats", ">alice<", "GLM 4.7 Flash", ">6<", "3,000 / 60", "Complete", "1 up, 1 down"):
        assert text in page
    assert "1 Nov 2026, 09:06 UTC<" in page
    assert f'href="{LIST}{talk.pk}/change/"' in page


def test_the_list_shows_nothing_of_what_was_said(reviewer: Client) -> None:
    seed.talk(question="My PIN is 4711", reply="Keep 4711 to yourself", reasoning="4711 is a PIN")
    assert "4711" not in reviewer.get(LIST).content.decode()
    assert "4711" not in reviewer.get(f"{LIST}?q=PIN").content.decode()


def test_deleted_conversations_stay_and_are_marked(reviewer: Client) -> None:
    talk = seed.talk()
    talk.deleted = seed.BEGUN + timedelta(days=1)
    talk.save()
    assert re.search(r"Deleted <time[^>]+>2 Nov 2026<", reviewer.get(LIST).content.decode())


def test_marks_say_what_is_temporary_archived_and_shared(reviewer: Client, settings: Any) -> None:
    settings.SHARING = "on"
    rows = {title: seed.talk("alice", title) for title in ("a boat", "a car", "a tram", "a plane")}
    Conversation.objects.filter(pk=rows["a car"].pk).update(temporary=True)
    Conversation.objects.filter(pk=rows["a tram"].pk).update(archived_at=timezone.now())
    for title, days in (("a plane", 1), ("a boat", -1)):
        link = SharedLink(leaf=seed.messages_of(rows[title])[0], title="t", leaf_length=1)
        link.expires = timezone.now() + timedelta(days=days)
        link.generate_token()
        link.save()
    page = reviewer.get(LIST).content.decode()
    found = re.findall(r'((?:<span class="mark">\w+</span> )*)<span dir="auto" title="([\w ]+)"', page)
    marks = {title: re.findall(r">(\w+)<", spans) for spans, title in found}
    assert marks == {"a boat": [], "a car": ["Temporary"], "a tram": ["Archived"], "a plane": ["Shared"]}


def test_a_page_has_fifty(listed: Listed) -> None:
    seed.talks("alice", [f"talk {n}" for n in range(60)])
    assert listed("")[0] == "talk 59"
    assert len(listed("")) == 50
    assert listed("last=1") == [f"talk {n}" for n in reversed(range(50))]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("sourdough", ["bread"]),  # a title
        ("SOURDOUGH", ["bread"]),
        ("alice", ["boats", "bread"]),  # a name
        ("bob@example", ["cars"]),  # an e-mail address
        ("rudder", ["boats"]),  # a question
        ("keel", ["boats"]),  # a reply
        ("keel rudder", ["boats"]),  # both, in different messages
        ("keel alice", ["boats"]),
        ("keel bob", []),
        ('"the keel"', ["boats"]),  # a phrase
        ("“the keel”", ["boats"]),
        ("rudd", ["boats"]),  # the beginning of a word
        ("kéel", ["boats"]),
        ('"rudder keel"', []),
        ("100%", ["cars"]),  # letters, not a pattern
        ("0%s", []),
        ('"', []),
    ],
)
def test_the_search_looks_at_titles_people_and_messages(listed: Listed, words: str, found: list[str]) -> None:
    seed.talk("alice", "bread: sourdough")
    seed.talk("alice", "boats", 2, question="What is a rudder?", reply="Not the keel, the rudder.")
    seed.talk("bob", "cars", reply="100% electric, 1000 s")
    assert sorted(title.partition(":")[0] for title in listed(f"q={quote(words)}")) == found


def test_search_finds_a_conversation_by_id(listed: Listed) -> None:
    talk = seed.talk("alice", "this one")
    seed.talk("alice", "another")
    assert listed(f"q={talk.pk}") == ["this one"]


def test_the_filter_by_state_is_about_the_last_run(listed: Listed) -> None:
    seed.talk(title="failed", status="failed", error_code="busy")
    mended = seed.talk(title="mended", status="failed")
    seed.branch(seed.messages_of(mended)[0], mended)
    assert listed("state=failed") == ["failed"]
    assert listed("state=complete") == ["mended"]


def test_the_filter_by_thumbs(listed: Listed) -> None:
    for title, ups in (("good", [True]), ("bad", [False]), ("mixed", [True, False]), ("silent", [])):
        talk = seed.talk(title=title, turns=2)
        for up, reply in zip(ups, seed.messages_of(talk)[1::2], strict=False):
            seed.judge(reply, up)
    assert sorted(listed("thumbs=up")) == ["good", "mixed"]
    assert sorted(listed("thumbs=down")) == ["bad", "mixed"]
    assert listed("thumbs=none") == ["silent"]


@pytest.mark.parametrize("names", [["FEW_RATED_CONVERSATIONS"], ["FEW_RUNS"], ["FEW_RUNS", "SOME_RUNS"]])
def test_the_filters_find_the_same_where_much_matches(
    listed: Listed, monkeypatch: pytest.MonkeyPatch, names: list[str]
) -> None:
    for name in names:
        monkeypatch.setattr(filters, name, 0)
    test_the_filter_by_state_is_about_the_last_run(listed)
    Conversation.objects.all().delete()
    test_the_filter_by_thumbs(listed)


def test_thumbs_that_an_older_version_stored_count_too(
    listed: Listed, monkeypatch: pytest.MonkeyPatch
) -> None:
    test_the_filter_by_thumbs(listed)
    for few in (filters.FEW_RATED_CONVERSATIONS, 0):
        monkeypatch.setattr(filters, "FEW_RATED_CONVERSATIONS", few)
        Feedback.objects.update(conversation=None)
        assert sorted(listed("thumbs=up")) == ["good", "mixed"]
        assert listed("thumbs=none") == ["silent"]


def test_a_row_leads_to_the_transcript_and_from_there_back(reviewer: Client) -> None:
    talk = seed.talk("alice", status="failed")
    page = reviewer.get(f"{LIST}?state=failed&q=answer").content.decode()
    assert f'href="{LIST}{talk.pk}/change/?_changelist_filters=state%3Dfailed%26q%3Danswer"' in page
    assert f'href="{LIST}{talk.pk}/change/"' in reviewer.get(LIST).content.decode()


def test_the_filters_by_model_person_deletion_and_date(listed: Listed) -> None:
    old = seed.talk("alice", "old", model="@cf/old")
    new = seed.talk("bob", "new")
    new.updated = new.deleted = timezone.now()
    new.save()
    assert listed("model=@cf/old") == ["old"]
    assert listed(f"owner={old.user_id}") == ["old"]
    assert listed("deleted=yes") == ["new"]
    assert listed("deleted=no") == ["old"]
    assert listed(f"updated__gte={quote(str(timezone.now() - timedelta(days=1)))}") == ["new"]


def test_a_person_beyond_the_first_thirty_can_be_chosen(reviewer: Client, listed: Listed) -> None:
    for n in range(31):
        seed.talk(f"a{n:02}", f"of a{n:02}")
    last = seed.talk("zoe", "of zoe")
    assert ">zoe</a>" not in reviewer.get(LIST).content.decode().partition('id="changelist-filter"')[2]
    assert listed(f"owner={last.user_id}") == ["of zoe"]


@pytest.mark.parametrize(
    "query", ["state=x", "thumbs=x", "model=x", "owner=x", "owner=9" + "9" * 30, "deleted=x", "q=%22%22%22"]
)
def test_a_made_up_choice_finds_nothing(listed: Listed, query: str) -> None:
    seed.talk()
    assert listed(query) == []


@pytest.mark.parametrize(
    ("query", "status"),
    [("q=%00", 400), ("state=%00", 400), ("title__contains=%00", 400),
     ("model=x&model=%00", 400), ("updated__gte=x", 302), ("p=x", 200),
     ("o=99.x", 200), ("user__password__startswith=p", 400), ("p=99", 200), ("_facets=1", 200)],
)  # fmt: skip
def test_an_odd_address_is_no_error_of_the_server(reviewer: Client, query: str, status: int) -> None:
    seed.talk()
    assert reviewer.get(f"{LIST}?{query}").status_code == status


def test_titles_and_names_are_text(reviewer: Client) -> None:
    seed.talk("<i>x</i>", "<img src=x onerror=alert(1)>")
    page = reviewer.get(LIST).content.decode()
    assert "<img src=x" not in page
    assert "<bdi>&lt;img src=x onerror=alert(1)&gt;</bdi>" in page
    assert "<bdi>&lt;i&gt;x&lt;/i&gt;</bdi>" in page
