"""One server for each file of tests; and the admin without a server, for what is asked of the database."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from chat.admin import days
from chat.models import User
from tests.admin import seed
from tests.support.clients import as_
from tests.support.module_server import database, fake, server
from tests.support.people import PASSWORD

LIST = "/admin/chat/conversation/"


@pytest.fixture(autouse=True)
def nothing_is_remembered() -> None:
    """The days before are read again."""
    days._over.clear()


@pytest.fixture
def reviewer(db: None) -> Client:
    """erin, who may view conversations and nothing else."""
    erin = seed.person("erin")
    erin.is_staff = True
    erin.save()
    erin.user_permissions.add(Permission.objects.get(codename="view_conversation"))
    client = Client(REMOTE_ADDR="192.0.2.7")
    client.force_login(erin)
    return client


@pytest.fixture
def administrator(db: None) -> Client:
    """root, who may do everything."""
    boss = seed.person("root")
    boss.is_staff = boss.is_superuser = True
    boss.save()
    return as_(boss)


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root", password=PASSWORD)


@pytest.fixture
def alice(db: None) -> User:
    return User.objects.create_user("alice", "alice@example.org", PASSWORD)


@pytest.fixture
def carol(db: None) -> User:
    """Staff who may look after people."""
    carol = User.objects.create_user("carol", password=PASSWORD, is_staff=True)
    names = ["view_user", "add_user", "change_user", "delete_user", "change_group", "add_group", "view_group"]
    carol.user_permissions.set(Permission.objects.filter(codename__in=names))
    return carol


@pytest.fixture
def listed(reviewer: Client) -> Callable[[str], list[str]]:
    """The titles that the list shows for a query string, in order."""

    def titles(query: str = "") -> list[str]:
        response = reviewer.get(f"{LIST}?{query}")
        assert response.status_code == 200, response
        return [conversation.title for conversation in response.context["cl"].result_list]

    return titles
