"""The one-time link with which the first person creates the administrator's account."""

import re

import pytest
from django.test import Client

from chat.models import User
from chat.models.links import SetupLink
from chat.views.accounts.accounts import setup_url
from tests.support.concurrency import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.database]
FORM = {"username": "root", "email": "root@example.org", "password1": "a long enough password"}


@pytest.fixture
def link() -> str:
    return setup_url().removeprefix("http://localhost:8000")


def test_it_stays_the_same_until_it_is_used() -> None:
    first = setup_url()
    assert re.fullmatch(r"http://localhost:8000/accounts/setup/[\w-]{43}/", first)
    assert setup_url() == first


def test_it_makes_the_administrator_and_logs_in(link: str, client: Client) -> None:
    assert client.get(link).status_code == 200
    response = client.post(link, FORM)
    assert (response.status_code, response["Location"]) == (302, "/")
    made = User.objects.get()
    assert (made.username, made.email, made.is_staff, made.is_superuser) == (
        "root", "root@example.org", True, True,
    )  # fmt: skip
    assert made.check_password(FORM["password1"])
    assert client.session["_auth_user_id"] == str(made.pk)


def test_it_works_once(link: str, client: Client) -> None:
    client.post(link, FORM)
    assert Client().get(link).status_code == 404
    assert Client().post(link, FORM | {"username": "eve", "email": ""}).status_code == 404
    assert (User.objects.count(), setup_url()) == (1, "")


def test_an_old_link_stays_dead_when_all_users_are_gone(link: str, client: Client) -> None:
    client.post(link, FORM)
    User.objects.all().delete()
    assert setup_url() not in ("", link)
    assert Client().get(link).status_code == 404


def test_a_wrong_token_is_a_missing_page(link: str, client: Client) -> None:
    for wrong in ("/accounts/setup/x/", link[:-2] + "/", link.upper(), "/accounts/setup/%00/"):
        page = client.get(wrong)
        assert page.status_code == 404
        assert ("The set-up link works once" in page.content.decode()) is (wrong != link.upper())
        assert client.post(wrong, FORM).status_code == 404
    assert not User.objects.exists()


def test_it_is_dead_as_soon_as_anybody_exists(link: str, client: Client) -> None:
    User.objects.create_user("alice")
    assert setup_url() == ""
    assert client.get(link).status_code == 404
    assert client.post(link, FORM).status_code == 404
    assert SetupLink.objects.claim(link.split("/")[-2], "eve", "", "a long enough password") is None


@pytest.mark.parametrize("password", ["short", "password123", "rootroot12", "", "nul\0nul\0nul\0"])
def test_the_password_must_satisfy_the_rules_which_are_shown(
    password: str, link: str, client: Client
) -> None:
    assert "10 characters" in client.get(link).content.decode()
    form = FORM | {"username": "rootroot", "password1": password}
    assert client.post(link, form).status_code == 200
    assert not User.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_people_at_once_one_gets_the_account(link: str) -> None:
    names = iter([f"person-{number}" for number in range(6)])
    forms = [FORM | {"username": name, "email": ""} for name in names]
    statuses = at_once(6, lambda: Client().post(link, forms.pop()).status_code)
    assert sorted(statuses) == [302] + [404] * 5
    assert User.objects.count() == 1


@pytest.mark.parametrize("accept", ["text/html", "*/*"])
def test_login_page_without_accounts_explains_the_link(client: Client, accept: str) -> None:
    assert client.get("/accounts/login/", headers={"accept": accept}).status_code == 200
    page = client.get("/accounts/login/?next=/").content.decode()
    assert "prints a one-time link" in page
    assert "Forgot your password?" not in page
    link = SetupLink.objects.pending()
    assert link
    assert link.token not in page
    User.objects.create_user("alice")
    page = client.get("/accounts/login/").content.decode()
    assert "one-time link" not in page
    assert "Forgot your password?" in page
    assert 'data-shows="id_password"' in page  # the button that shows what is typed
