"""The list of conversations: by date, in pages, with its marks."""

import re
import uuid
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.accounts.sessions import SessionStore
from chat.accounts.timezones import timezone_of as zone_of
from chat.message_rendering import render_page_sync
from chat.models import Conversation, Run, User
from chat.views import pages
from chat.views.conversations import sidebar, thread
from tests.support.message_trees import Tree, run
from tests.support.server import Person, Server

pytestmark = [pytest.mark.database, pytest.mark.django_db]
NOON = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def user() -> User:
    return User.objects.create_user(f"somebody {uuid.uuid4()}")


def conversation(user: User, updated: datetime = NOON, **fields: object) -> Conversation:
    return Conversation.objects.create(
        user=user, **{"title": "T", "model": "@cf/a/b", "updated": updated} | fields
    )


def reply(within: Conversation, status: str = "complete", finished: datetime | None = None) -> Run:
    """The run of its active leaf."""
    tree = Tree(within)
    _question, leaf = tree.grow(None, 2)
    tree.show(leaf)
    made = run(leaf, status)
    if finished:
        Run.objects.filter(pk=made.pk).update(finished=finished)
    return made


def groups(user: User, zone: str = "UTC", **options: object) -> dict[str, int]:
    found = sidebar.sidebar(user, ZoneInfo(zone), **options).groups
    return {group["name"]: len(group["items"]) for group in found}


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: NOON)


def test_conversations_stand_in_groups_of_days_and_months(user: User, now: None) -> None:
    for ago in (0, 0, 1, 2, 7, 8, 20, 21, 400):
        conversation(user, NOON - ago * DAY)
    conversation(user, NOON + DAY)  # a clock was wrong
    conversation(user, deleted=NOON)
    assert groups(user) == {
        "Today": 3,
        "Yesterday": 1,
        "Previous 7 days": 2,
        "November 2026": 2,
        "October 2026": 1,
        "October 2025": 1,
    }


@pytest.mark.parametrize(
    ("zone", "group"),
    [
        ("UTC", "Today"),
        ("America/Los_Angeles", "Yesterday"),
        ("Pacific/Kiritimati", "Yesterday"),
        ("Asia/Kolkata", "Today"),
    ],
)
def test_a_day_begins_where_the_person_is(user: User, now: None, zone: str, group: str) -> None:
    conversation(user, NOON.replace(hour=7))
    assert groups(user, zone) == {group: 1}


@pytest.mark.parametrize(
    "cookie", ["", "Nowhere/Land", "../../etc/passwd", "Europe", "x" * 65, "Europe/Berlin\0", "/etc/passwd"]
)
def test_a_zone_that_is_none_is_utc(cookie: str) -> None:
    request = RequestFactory().get("/")
    request.COOKIES["tz"] = "Europe/Berlin"
    assert zone_of(request) == ZoneInfo("Europe/Berlin")
    request.COOKIES["tz"] = cookie
    assert zone_of(request) == ZoneInfo("UTC")


def test_marks_say_what_is_replying_and_what_was_not_seen(user: User) -> None:
    seen = NOON
    quiet, live, unseen, known = [conversation(user, NOON - n * DAY, last_seen=seen) for n in range(4)]
    reply(live, "running")
    reply(unseen, "failed", seen + DAY)
    reply(known, "complete", seen)
    elsewhere = reply(quiet, "complete", seen + DAY)  # on a branch that is not shown
    Conversation.objects.filter(pk=quiet.pk).update(active_leaf=elsewhere.message.parent)
    items = [item for group in sidebar.sidebar(user, ZoneInfo("UTC")).groups for item in group["items"]]
    assert [item["id"] for item in items] == [quiet.pk, live.pk, unseen.pk, known.pk]
    assert [item["state"] for item in items] == ["", "replying", "unseen", ""]


def test_pages_follow_one_another_without_a_gap_or_a_double(user: User, monkeypatch) -> None:
    monkeypatch.setattr(sidebar, "MAX_LISTED_CONVERSATIONS", 3)
    made = [conversation(user, NOON - n // 2 * DAY).pk for n in range(8)]  # pairs of the same moment
    found, before = [], None
    for _ in range(3):
        page = sidebar.sidebar(user, ZoneInfo("UTC"), before=before)
        found += [item["id"] for group in page.groups for item in group["items"]]
        before = page.older and Conversation.objects.get(pk=page.older)
    assert page.older is None
    assert len(found) == 8
    assert set(found) == set(made)


def test_three_queries_list_any_number(user: User) -> None:
    counts = []
    for _ in range(2):
        for _ in range(10):
            reply(conversation(user), finished=NOON)
        with CaptureQueriesContext(connection) as queries:
            sidebar.sidebar(user, ZoneInfo("UTC"))
        counts.append(len(queries))
    assert counts == [3, 3]


def test_query_count_is_equal_for_many_conversations(user: User) -> None:
    request = RequestFactory().get("/")
    request.session = SessionStore()
    counts = []
    for _ in range(2):
        request.user = User.objects.get(pk=user.pk)  # a user keeps its preferences after the first query
        for _ in range(10):
            shown = conversation(user, last_seen=NOON - DAY)
            reply(shown, finished=NOON)
        shown.refresh_from_db()
        with CaptureQueriesContext(connection) as queries:
            page = pages._page(request, shown, thread.read(shown))
            page._add_html(render_page_sync(user.pk, page._texts()))
            response = page._render()  # the template in this thread, whose queries are counted
        assert b"data-state" in response.content
        counts.append(len(queries))
    assert counts[0] == counts[1] < 10


def test_the_list_is_a_page_and_a_part_of_one(alice: Person) -> None:
    stream = alice.asked("Something to list")
    page = alice.get("/conversations/").text
    part = alice.get("/conversations/", headers={"X-Requested-With": "fetch"}).text
    for html in (page, part):
        assert f'href="/c/{stream.conversation}/"' in html
        assert "Something to list" in html
    assert "<main" in page
    assert not re.search("<(main|nav|html)", part)
    last = alice.get("/conversations/", params={"before": stream.conversation})
    assert stream.conversation not in last.text.split("<main")[1]


def test_a_place_in_the_list_that_is_none_is_refused(server: Server) -> None:
    alice, bob = server.person("alice"), server.person("bob")
    stream = bob.asked("hello")
    foreign = alice.get("/conversations/", params={"before": stream.conversation})
    missing = alice.get("/conversations/", params={"before": str(uuid.uuid4())})
    assert (foreign.status_code, foreign.content) == (404, missing.content)
    assert alice.get("/conversations/", params={"before": "x"}).status_code == 400
    bob.post(f"/c/{stream.conversation}/delete/")
    assert bob.get("/conversations/", params={"before": stream.conversation}).status_code == 200


def test_open_conversation_is_listed_even_if_old(
    user: User, now: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sidebar, "MAX_LISTED_CONVERSATIONS", 3)
    made = [conversation(user, NOON - ago * DAY, title=f"{ago}") for ago in range(6)]
    listed = sidebar.sidebar(user, ZoneInfo("UTC"), current=made[4])
    assert [[item["title"] for item in group["items"]] for group in listed.groups] == [
        ["0"],
        ["1"],
        ["2"],
        ["4"],
    ]
    assert [bool(group.get("apart")) for group in listed.groups] == [False, False, False, True]
    assert listed.groups[-1]["items"][0]["current"]
    assert listed.older == made[2].pk
    for near in (made[0], made[2], None):
        assert not any(
            group.get("apart") for group in sidebar.sidebar(user, ZoneInfo("UTC"), current=near).groups
        )
