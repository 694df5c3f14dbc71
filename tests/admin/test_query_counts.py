"""A page of the administration takes as many queries for many rows as for few."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.catalog import catalog
from chat.models import Invite, McpServer, McpTool, Run, SiteModel, User, Worker
from tests.admin import seed
from tests.admin.conftest import LIST
from tests.support.invites import issue_invite

pytestmark = [pytest.mark.database, pytest.mark.django_db]
MANY = 30


def talks(client: Client, number: int) -> None:
    for name in ("bob", "carol", "dora"):
        seed.talks(name, [f"boat {n}" for n in range(number // 3 + 1)], 2 + number // 15)


def runs(client: Client, number: int) -> None:
    """Runs of many people on many workers, and a reading."""
    for n in range(number):
        talk = seed.talk(f"p{n}")
        worker = Worker.objects.create(host="here", pid=n + 1)
        Run.objects.filter(conversation=talk).update(worker=worker)
    client.get(f"{LIST}{talk.pk}/change/")


def runs_of_models(client: Client, number: int) -> None:
    for n in range(number):
        talk = seed.talk("alice", model=f"@cf/model/{n}")
        Run.objects.filter(conversation=talk).update(created=timezone.now())
    client.get("/admin/")  # remembers the days before


def people(client: Client, number: int) -> None:
    for n in range(number):
        User.objects.create_user(f"person-{number}-{n}")


def invitations(client: Client, number: int) -> None:
    root, _ = User.objects.get_or_create(username="root")
    for n in range(number):
        _invite, token = issue_invite(root)
        if number == MANY:
            Invite.objects.claim(token, User(username=f"person-{n}"))


def models(client: Client, number: int) -> None:
    catalog.register_models([])
    if number != MANY:
        SiteModel.objects.exclude(pk__in=SiteModel.objects.all()[:2]).delete()
    for row in SiteModel.objects.all()[1:10] if number == MANY else ():
        row.groups.add(Group.objects.create(name=row.pk[:100]))


def tool_servers(client: Client, number: int) -> str:
    """Servers with tools and groups, and the page of one."""
    group, _ = Group.objects.get_or_create(name="few")
    for n in range(number):
        row, _ = McpServer.objects.get_or_create(name=f"s{n}", label=f"S{n}", url="https://a.example/mcp")
        row.groups.add(group)
        McpTool.objects.get_or_create(server=row, name="look")
        McpTool.objects.get_or_create(server=McpServer.objects.get(name="s0"), name=f"look{n}")
    page = f"/admin/chat/mcpserver/{McpServer.objects.get(name='s0').pk}/change/"
    client.get(page)  # learns the types of content
    return page


def listed_servers(client: Client, number: int) -> None:
    tool_servers(client, number)


def a_transcript(client: Client, number: int) -> str:
    """Others, and the address of a conversation that is as long."""
    seed.talks("bob", [f"talk {n}" for n in range(number)])
    return f"{LIST}{seed.talk(turns=number).pk}/change/"


@pytest.mark.parametrize(
    ("address", "add", "few", "most"),
    [
        (LIST, talks, 5, 24),
        (f"{LIST}?q=boat", talks, 5, 24),
        (f"{LIST}?state=complete&thumbs=none&deleted=no", talks, 5, 24),
        ("transcript", a_transcript, 1, 23),  # on PostgreSQL one of them switches its compiler off
        ("/admin/chat/run/", runs, 5, 12),
        ("/admin/chat/worker/", runs, 5, 12),
        ("/admin/chat/titlerequest/", runs, 5, 12),
        ("/admin/chat/conversationaccess/", runs, 5, 12),
        ("/admin/chat/user/", people, 1, 6),
        ("/admin/chat/invite/", invitations, 1, 4),
        ("/admin/chat/sitemodel/", models, 1, 12),
        ("/admin/chat/mcpserver/", listed_servers, 1, 6),
        ("the page of one", tool_servers, 1, 8),
        ("/admin/", runs_of_models, 1, 14),
    ],
)
def test_the_number_of_queries_does_not_grow(
    administrator: Client, settings: Any, address: str, add: Callable[[Client, int], Any], few: int, most: int
) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID = "acc"  # models to list
    counts = []
    for number in (few, MANY):
        page = add(administrator, number) or address
        with CaptureQueriesContext(connection) as counted:
            assert administrator.get(page).status_code == 200
        counts.append(len(counted))
    assert counts[0] == counts[1] <= most
