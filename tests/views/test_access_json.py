"""Signing in again from a page that is open: the same way in, answered in JSON."""

import re
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.sessions.models import Session
from django.test import Client

from chat.models import User
from tests.support.people import PASSWORD
from tests.views.accounts import LOGIN, alice

__all__ = ["alice"]
JSON = {"accept": "application/json"}
pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def browser() -> Client:
    """Return a client that must send its CSRF token, as real browsers do."""
    return Client(enforce_csrf_checks=True)


def token_of_page(browser: Client, path: str = LOGIN) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', browser.get(path).content.decode())
    assert found
    return found[1]


def log_in(browser: Client, token: str, login: str = "alice", password: str = PASSWORD, **more: Any) -> Any:
    fields = {"login": login, "password": password, "csrfmiddlewaretoken": token}
    return browser.post(LOGIN, fields | more, headers=JSON)


def test_json_login_names_the_user_and_returns_a_csrf_token(alice: User, browser: Client) -> None:
    response = log_in(browser, token_of_page(browser))
    assert response.status_code == 200
    assert response.json().keys() == {"user", "csrf"}
    assert response.json()["user"] == alice.pk == int(browser.session["_auth_user_id"])
    assert (
        browser.post("/accounts/logout/", headers={"x-csrftoken": response.json()["csrf"]}).status_code == 303
    )


def test_login_of_an_expired_page_accepts_its_csrf_token(alice: User, browser: Client) -> None:
    log_in(browser, token_of_page(browser))
    token = browser.get(LOGIN, headers=JSON).json()["csrf"]
    Session.objects.all().delete()
    assert browser.get(LOGIN, headers=JSON).json()["user"] is None
    assert log_in(browser, token).json()["user"] == alice.pk


def test_a_second_tab_finds_out_that_the_first_signed_in(alice: User, browser: Client) -> None:
    old = token_of_page(browser)
    assert browser.get(LOGIN, headers=JSON).json()["user"] is None
    log_in(browser, old)
    refused = log_in(browser, old)  # the cookie changed with the first one's login
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "csrf")
    now = browser.get(LOGIN, headers=JSON).json()
    assert now["user"] == alice.pk
    key = browser.session.session_key
    again = log_in(browser, now["csrf"], password="whatever is typed now")
    assert (again.status_code, again.json()["user"]) == (200, alice.pk)
    assert browser.session.session_key == key


def test_asking_who_is_logged_in_writes_nothing(alice: User, browser: Client) -> None:
    browser.get(LOGIN, headers=JSON)
    assert not Session.objects.exists()


def test_no_token_no_login(alice: User, browser: Client) -> None:
    token_of_page(browser)
    assert log_in(browser, "").status_code == 403
    assert log_in(browser, "x" * 64).json()["error"]["code"] == "csrf"


@pytest.mark.parametrize(
    ("login", "password"),
    [("alice", "wrong"), ("nobody", PASSWORD), ("", ""), ("alice", "x" * 4096), ("alice", "nul\0nul")],
)
def test_whatever_was_wrong_the_answer_is_the_same(
    login: str, password: str, alice: User, client: Client
) -> None:
    response = log_in(client, "", login, password)
    assert response.status_code == 401
    assert response.json() == {"error": {"code": "wrong_password", "message": "Incorrect name or password."}}
    assert "_auth_user_id" not in client.session


def test_disabled_user_is_answered_like_a_wrong_password(alice: User, client: Client) -> None:
    wrong = log_in(client, "", password="wrong")
    User.objects.update(is_active=False)
    disabled = log_in(client, "")
    assert (disabled.status_code, disabled.content) == (wrong.status_code, wrong.content)


def test_it_counts_in_the_throttle_of_the_page(alice: User, client: Client) -> None:
    for _ in range(5):
        client.post(LOGIN, {"login": "alice", "password": "wrong"})
    statuses = [log_in(client, "", password="wrong").status_code for _ in range(5)]
    assert statuses == [401] * 4 + [429]
    assert AccessAttempt.objects.get().failures_since_start == 10
    locked = log_in(client, "")
    assert (locked.status_code, locked.json()["error"]["code"]) == (429, "throttled")
    assert locked.json()["error"]["retry_after"] == int(locked["Retry-After"]) == 900
    assert locked.json()["error"]["message"].startswith("Too many failed attempts")


def test_a_browser_still_gets_pages(alice: User, client: Client) -> None:
    browsers = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    assert b"<form" in client.get(LOGIN, headers={"accept": browsers}).content
    fields = {"login": "alice", "password": PASSWORD}
    assert client.post(LOGIN, fields, headers={"accept": browsers}).status_code == 302
