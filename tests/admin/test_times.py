"""Times of the administration: the reader's own, or in UTC and saying so; and for machines, too."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from chat.models import ConversationAccess, User, Worker
from tests.admin import seed
from tests.admin.seed_cli import plant
from tests.support.invites import issue_invite
from tests.support.server import Server

WRITTEN = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d|\d{4}, \d\d:\d\d")
TIME = re.compile(
    r'<time datetime="(\d{4}-\d\d-\d\dT[\d:]{8}\+00:00)" title="\d{4}-\d\d-\d\d \d\d:\d\d UTC">'
    r"\d+ \w{3} \d{4}(?:, \d\d:\d\d( UTC)?)?</time>"
)
BEGUN, IN_TOKYO = "1 Nov 2026, 09:00 UTC", "1 Nov 2026, 18:00"
LISTS = ["conversation/", "run/", "worker/", "conversationaccess/", "user/", "invite/"]


@pytest.fixture
def everything(administrator: Client) -> None:
    """A row of each list."""
    talk = seed.talk("alice")
    Worker.objects.create(host="here", pid=1)
    boss = User.objects.get(username="root")
    issue_invite(boss, "ada")
    ConversationAccess.objects.create(
        reader_key=1, reader="erin", owner_key=2, owner="alice", conversation=talk.pk
    )


@pytest.mark.database
@pytest.mark.django_db
@pytest.mark.parametrize("address", LISTS)
def test_the_times_of_every_list_are_the_readers_own(
    administrator: Client, everything: None, address: str
) -> None:
    for cookie, zone in ({}, " UTC"), ({"tz": "Asia/Tokyo"}, ""):
        administrator.cookies.load(cookie)
        page = administrator.get(f"/admin/chat/{address}").content.decode()
        assert {zone} == {found for _, found in TIME.findall(page)}
        assert WRITTEN.findall(TIME.sub("", page)) == []
    assert timezone.get_current_timezone_name() == "UTC"


@pytest.mark.database
@pytest.mark.django_db
def test_a_persons_page_does_so_too(administrator: Client) -> None:
    person = seed.person("alice")
    page = administrator.get(f"/admin/chat/user/{person.pk}/change/").content.decode()
    assert len(TIME.findall(page)) == 1  # joined, and never signed in


def test_a_transcript_and_a_list_are_read_in_the_readers_zone(server: Server) -> None:
    [key] = plant(server, 'print(talk("alice", created=BEGUN).pk)')
    erin = server.person("erin")
    address = f"/admin/chat/conversation/{key}/change/"
    assert BEGUN in erin.get(address).text
    erin.client.cookies["tz"] = "Asia/Tokyo"
    page = erin.get(address).text
    assert f'datetime="2026-11-01T09:00:00+00:00" title="2026-11-01 09:00 UTC">{IN_TOKYO}</time>' in page
    for language, written in ("de", "01.11.2026, 18:0"), ("fr", "01/11/2026, 18:0"):
        erin.client.headers["Accept-Language"] = language
        assert written in erin.get("/admin/chat/conversation/").text
    del erin.client.headers["Accept-Language"]
    erin.client.cookies.clear()
