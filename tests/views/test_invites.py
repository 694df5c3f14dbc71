"""The one-time link with which an invited person creates an account."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from chat.models import Invite, User
from chat.models.links import VALID_FOR
from tests.support.concurrency import at_once
from tests.support.invites import issue_invite

pytestmark = [pytest.mark.django_db, pytest.mark.database]
PASSWORD = "a long enough password"
FORM = {"username": "ada", "email": "ada@example.org", "password1": PASSWORD}


@pytest.fixture
def root() -> User:
    return User.objects.create_superuser("root")


@pytest.fixture
def link(root: User) -> str:
    return address(issue_invite(root, "Ada")[1])


def address(token: str) -> str:
    return f"/accounts/invite/{token}/"


def test_it_makes_an_account_without_rights_and_logs_in(link: str, client: Client) -> None:
    assert client.get(link).status_code == 200
    response = client.post(link, FORM)
    assert (response.status_code, response["Location"]) == (302, "/")
    ada = User.objects.get(username="ada")
    assert (ada.email, ada.is_active, ada.is_staff, ada.is_superuser) == (
        "ada@example.org",
        True,
        False,
        False,
    )
    assert ada.check_password(PASSWORD)
    assert client.session["_auth_user_id"] == str(ada.pk)
    invite = Invite.objects.get()
    assert invite.used is not None
    assert invite.used_by == ada


def test_it_says_who_invites_and_fills_in_the_name(root: User, client: Client) -> None:
    page = client.get(address(issue_invite(root, "Alice <Berger>")[1])).content.decode()
    assert "<bdi>root</bdi> invites you to this chat. Choose a name and a password." in page
    assert 'name="username" type="text" autocomplete="username" value="Alice.Berger"' in page
    assert "Letters, digits and . + - _ @" in page
    assert re.findall('autocomplete="(.*?)"', page) == ["username", "email", "new-password"]


@pytest.mark.parametrize(
    ("note", "filled"),
    [("Ada", "Ada"), ("", ""), ("Jörg-Olaf  O’Neil", "Jörg-Olaf.ONeil"), ("🎉 !", ""), ("Root", "")],
)
def test_the_name_that_is_filled_in_can_be_taken(note: str, filled: str, root: User, client: Client) -> None:
    page = client.get(address(issue_invite(root, note)[1])).content.decode()
    assert f'autocomplete="username" value="{filled}"' in page
    root.delete()
    assert "You’re invited to this chat." in client.get(address(issue_invite(None, note)[1])).content.decode()


def test_looking_at_it_does_not_use_it_up(link: str, client: Client) -> None:
    before = Invite.objects.values().get()
    assert client.get(link).status_code == client.head(link).status_code == 200
    assert Invite.objects.values().get() == before


def test_rights_cannot_be_sent_along(link: str, client: Client) -> None:
    client.post(link, FORM | {"is_staff": "on", "is_superuser": "on", "groups": "1"})
    ada = User.objects.get(username="ada")
    assert (ada.is_staff, ada.is_superuser, ada.groups.count()) == (False, False, 0)


def test_the_address_of_the_account_is_optional(link: str, client: Client) -> None:
    assert client.post(link, FORM | {"email": ""}).status_code == 302


def test_only_a_digest_of_it_is_stored(link: str) -> None:
    stored = [str(value) for value in Invite.objects.values_list().get()]
    token = link.split("/")[-2]
    assert not any(token in value for value in stored)
    with connection.cursor() as cursor:
        cursor.execute("SELECT digest FROM chat_invite")
        assert address(cursor.fetchone()[0]) != link


def test_invalid_invitations_are_the_same_404(root: User, client: Client) -> None:
    used, expired, revoked = (issue_invite(root) for _ in range(3))
    assert Client().post(address(used[1]), FORM).status_code == 302
    Invite.objects.filter(pk=expired[0].pk).update(created=timezone.now() - VALID_FOR)
    revoked[0].delete()
    dead = [used[1], expired[1], revoked[1], "x", used[0].digest, used[1].swapcase(), "%00"]
    responses = [client.get(address(token)) for token in dead]
    responses += [client.post(address(token), FORM | {"username": "eve", "email": ""}) for token in dead]
    assert {response.status_code for response in responses} == {404}
    assert len({response.content for response in responses}) == 1
    assert set(User.objects.values_list("username", flat=True)) == {"root", "ada"}


def test_it_is_closed_while_its_maker_is_disabled(root: User, link: str, client: Client) -> None:
    bob = User.objects.create_superuser("bob")
    for made_by, is_active in ((root, False), (root, True), (bob, True)):
        User.objects.filter(pk=made_by.pk).update(is_active=is_active)
        Invite.objects.update(made_by=made_by)
        statuses = [client.get(link).status_code, client.head(link).status_code]
        assert statuses == [200 if is_active else 404] * 2
        assert Invite.objects.get().is_open == is_active
    User.objects.filter(pk=root.pk).update(is_active=False)
    Invite.objects.update(made_by=root)
    assert client.post(link, FORM).status_code == 404
    assert not User.objects.filter(username="ada").exists()
    Invite.objects.update(made_by=None)  # that account is gone
    assert client.get(link).status_code == 200


def test_it_is_open_for_seven_days(link: str, client: Client) -> None:
    Invite.objects.update(created=timezone.now() - timedelta(days=7) + timedelta(minutes=1))
    assert client.get(link).status_code == 200
    Invite.objects.update(created=timezone.now() - timedelta(days=7, seconds=1))
    assert client.get(link).status_code == 404


def test_account_holders_are_told_so_and_the_link_stays_open(link: str, client: Client) -> None:
    client.force_login(User.objects.create_user("bob"))
    page = client.get(link)
    assert page.status_code == 200
    assert "You already have an account" in page.content.decode()
    assert client.post(link, FORM).status_code == 409
    assert not User.objects.filter(username="ada").exists()
    assert Client().post(link, FORM).status_code == 302


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"username": ""}, "username"),
        ({"username": "root"}, "username"),
        ({"username": "a b"}, "username"),
        ({"username": "nul\0"}, "username"),
        ({"email": "no address"}, "email"),
        ({"password1": "short"}, "password1"),
        ({"password1": "adalovelace", "username": "adalovelace"}, "password1"),
        ({"password1": "password123"}, "password1"),
        ({"password1": "x" * 1025}, "password1"),
    ],
)
def test_errors_are_at_their_field_and_the_link_stays_open(
    wrong: dict[str, str], field: str, link: str, client: Client
) -> None:
    response = client.post(link, FORM | wrong)
    assert response.status_code == 200
    page = response.content.decode()
    about = page.split(f'<div class="description" id="about_{field}">')[1]
    assert about.startswith('<p class="error">')
    assert f'aria-invalid="true" aria-describedby="about_{field}"' in page
    assert PASSWORD not in page
    assert Invite.objects.get().is_open
    assert User.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_of_several_at_once_uses_the_link(link: str) -> None:
    forms = [FORM | {"username": f"person-{number}", "email": ""} for number in range(6)]
    statuses = at_once(6, lambda: Client().post(link, forms.pop()).status_code)
    assert sorted(statuses) == [302] + [404] * 5
    assert Invite.objects.get().used_by == User.objects.exclude(username="root").get()


@pytest.mark.django_db(transaction=True)
def test_concurrent_use_of_a_name_lets_one_choose_again(root: User) -> None:
    links = [address(issue_invite(root)[1]) for _ in range(4)]
    again = list(links)
    statuses = at_once(4, lambda: Client().post(links.pop(), FORM).status_code)
    assert sorted(statuses) == [200, 200, 200, 302]
    assert Invite.objects.filter(used=None).count() == 3
    left = next(link for link in again if Client().get(link).status_code == 200)
    assert Client().post(left, FORM | {"username": "ada2", "email": ""}).status_code == 302
