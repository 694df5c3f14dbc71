"""The page on which a person sees who of the staff read their conversations."""

import pytest

from tests.admin.seed_cli import plant
from tests.support.server import Server

pytestmark = pytest.mark.database


def test_the_owner_sees_who_read_which_conversation(server: Server) -> None:
    stream = server.person("alice").asked("Why <b>boats</b>?")
    server.person("erin").get(f"/admin/chat/conversation/{stream.conversation}/change/")
    page = server.person("alice").get("/readings/").text
    assert f'<a href="/c/{stream.conversation}/" dir="auto">Why &lt;b&gt;boats&lt;/b&gt;?</a>' in page
    assert "<bdi>erin</bdi>" in page
    assert 'href="/settings/readings/"' in server.person("alice").get("/settings/").text
    server.person("alice").post(f"/c/{stream.conversation}/delete/")
    page = server.person("alice").get("/readings/").text
    assert f"/c/{stream.conversation}/" not in page
    assert "Why &lt;b&gt;boats&lt;/b&gt;?" in page


def test_nobody_sees_what_was_read_of_others(server: Server) -> None:
    stream = server.person("alice").asked("Only mine")
    server.person("erin").get(f"/admin/chat/conversation/{stream.conversation}/change/")
    for who in ("bob", "carol", "erin", "root"):
        page = server.person(who).get("/readings/").text
        assert "Only mine" not in page
        assert "No one has read your chats." in page


def test_the_owner_sees_who_searched_for_what(server: Server) -> None:
    for who, text in (("alice", "Tell me of <i>zebras</i>"), ("bob", "And of zebras")):
        server.person(who).asked(text)
    server.person("erin").get("/admin/chat/conversation/?q=%3Ci%3Ezebras")
    page = server.person("alice").get("/readings/").text
    assert "A search for “<bdi>&lt;i&gt;zebras</bdi>” showed 1 of your chats" in page
    assert "zebras</bdi>”" not in server.person("bob").get("/readings/").text
    server.person("erin").get("/admin/chat/conversation/?q=zebras")
    assert "“<bdi>zebras</bdi>” showed 1 of your chats" in server.person("bob").get("/readings/").text
    assert "zebras</bdi>”" not in server.person("carol").get("/readings/").text


def test_many_readings_come_in_pages(server: Server) -> None:
    plant(
        server,
        """
from chat.models import ConversationAccess
bob = person("bob")
for n in range(60):
    ConversationAccess.objects.create(reader_key=1, reader="erin", owner_key=bob.pk, owner="bob",
        conversation=missing(), title=f"talk {n}.")
""",
    )
    bob = server.person("bob")
    page = bob.get("/readings/").text
    assert [n for n in range(60) if f"talk {n}." in page] == list(range(10, 60))
    older = page.partition('href="?before=')[2].partition('"')[0]
    page = bob.get(f"/readings/?before={older}").text
    assert [n for n in range(60) if f"talk {n}." in page] == list(range(10))
    assert "?before=" not in page
    assert "No earlier entries." in bob.get("/readings/?before=0").text


@pytest.mark.parametrize("before", ["x", "-1", "", "9" * 19, "²", "%00"])
def test_an_odd_number_is_malformed(server: Server, before: str) -> None:
    assert server.person("alice").get(f"/readings/?before={before}").status_code == 400


def test_times_are_those_of_the_persons_zone(server: Server) -> None:
    plant(
        server,
        """
from datetime import UTC, datetime
from chat.models import ConversationAccess
alice = person("alice")
ConversationAccess.objects.create(reader_key=1, reader="erin", owner_key=alice.pk, owner="alice", title="t",
    conversation=missing(), at=datetime(2026, 1, 31, 23, 30, tzinfo=UTC))
""",
    )
    alice = server.person("alice")
    assert "31 January 2026, 23:30 UTC" in alice.get("/readings/").text
    alice.client.cookies["tz"] = "Asia/Tokyo"
    page = alice.get("/readings/").text
    assert ' datetime="2026-01-31T23:30:00+00:00">1 February 2026, 08:30 JST</time>' in page
