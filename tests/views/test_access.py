"""Log in, log out, and the throttle."""

import re
import threading
import time
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.hashers import Argon2PasswordHasher, check_password, identify_hasher
from django.contrib.sessions.models import Session
from django.test import Client

from chat.accounts import backends, passwords
from chat.accounts.sessions import session_digest
from chat.models import User
from chatsite.settings import PASSWORD_HASHERS
from tests.support.concurrency import at_once
from tests.support.people import PASSWORD
from tests.views.accounts import LOGIN, OLDER_HASH, alice, log_in

__all__ = ["alice"]
pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The passwords that cost the time of a hash."""
    seen: list[str] = []
    verify, encode = Argon2PasswordHasher.verify, Argon2PasswordHasher.encode
    monkeypatch.setattr(Argon2PasswordHasher, "verify", lambda *a: (seen.append(a[1]), verify(*a))[1])
    monkeypatch.setattr(Argon2PasswordHasher, "encode", lambda *a: (seen.append(a[1]), encode(*a))[1])
    return seen


def is_logged_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


@pytest.mark.parametrize("login", ["alice", "alice@example.org", "ALICE@EXAMPLE.ORG", "Alice@Example.org"])
def test_a_name_and_an_address_in_any_case_log_in(login: str, alice: User, client: Client) -> None:
    response = log_in(client, login)
    assert (response.status_code, response["Location"]) == (302, "/")
    assert is_logged_in(client)


@pytest.mark.parametrize(
    "login", ["Alice", "ａlice", "alice@example.com", "alice@example.org\u200b", "%", "a_ice"]
)
def test_lookalikes_of_the_name_do_not(login: str, alice: User, client: Client) -> None:
    assert log_in(client, login).status_code == 200
    assert not is_logged_in(client)


@pytest.mark.parametrize("older", [True, False])
def test_a_name_that_was_an_address_of_another_shuts_neither_out(older: bool, client: Client) -> None:
    """Store such a name, which was allowed once: each password opens its own account."""
    names = ["alice", "mallory"] if older else ["mallory", "alice"]
    passwords = {"alice": PASSWORD, "mallory": "another good password"}
    people = {name: User.objects.create_user(name, password=passwords[name]) for name in names}
    User.objects.filter(username="alice").update(email="alice@example.org")
    User.objects.filter(username="mallory").update(username="alice@example.org")
    for name, person in people.items():
        client = Client()
        assert log_in(client, "alice@example.org", passwords[name]).status_code == 302
        assert client.session["_auth_user_id"] == str(person.pk)
    assert log_in(Client(), "alice@example.org", "neither").status_code == 200


@pytest.mark.parametrize("password", ["", "x" * 4096, "correct\0horse"])
def test_an_impossible_password_is_refused_before_it_is_hashed(
    password: str, alice: User, client: Client, hashed: list[str]
) -> None:
    hashed.clear()
    assert log_in(client, password=password).status_code == 200
    assert (hashed, is_logged_in(client)) == ([], False)


def test_an_unknown_name_costs_the_hash_of_a_known_one(
    alice: User, client: Client, hashed: list[str]
) -> None:
    for login in ("alice", "nobody", "alice@example.org", "nobody@example.org"):
        hashed.clear()
        log_in(client, login, "wrong")
        assert hashed == ["wrong"]


def test_the_answer_does_not_tell_whether_a_name_exists(alice: User, client: Client) -> None:
    pages = [log_in(client, login, "wrong").content.decode() for login in ("alice", "nobody")]
    pages = [re.sub(r'value="[^"]*"', "", page) for page in pages]
    assert pages[0] == pages[1]


def test_the_session_changes_when_somebody_logs_in(alice: User, client: Client) -> None:
    client.session.save()
    session = client.session
    session["before"] = True
    session.save()
    before = client.cookies["sessionid"].value
    log_in(client)
    after = client.cookies["sessionid"].value
    assert before != after
    assert not Session.objects.filter(session_key=session_digest(before)).exists()


def test_the_session_cookie_is_out_of_reach_of_scripts(alice: User, client: Client) -> None:
    cookie = log_in(client).cookies["sessionid"]
    assert (bool(cookie["httponly"]), cookie["samesite"], cookie["path"]) == (True, "Lax", "/")


@pytest.mark.parametrize("how", ["form", "query"])
def test_next_leads_to_a_place_of_this_site(how: str, alice: User, client: Client) -> None:
    destination = "/c/0b8e5c52-3f4b-4f0e-9d0e-000000000000/?before=1"
    fields = {"login": "alice", "password": PASSWORD}
    if how == "form":
        response = client.post(LOGIN, fields | {"next": destination})
    else:
        response = client.post(LOGIN, fields, query_params={"next": destination})
    assert response["Location"] == destination


@pytest.mark.parametrize(
    "target",
    ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "http:evil.example",
     "\thttps://evil.example", "///evil.example", "https://testserver@evil.example", "x" * 5000],
)  # fmt: skip
def test_next_leads_nowhere_else(target: str, alice: User, client: Client) -> None:
    assert "evil" not in client.get(LOGIN, {"next": target}).content.decode()
    location = log_in(client, next=target)["Location"]
    assert "evil" not in location
    assert "javascript" not in location


def test_a_signed_in_person_is_sent_to_the_chat(alice: User, client: Client) -> None:
    client.force_login(alice)
    assert client.get(LOGIN)["Location"] == "/"
    assert log_in(client, "bob", "x")["Location"] == "/"


def test_logout_ends_the_session_and_clears_site_data(alice: User, client: Client) -> None:
    client.force_login(alice)
    key = client.session.session_key
    assert client.get("/accounts/logout/").status_code == 405
    assert is_logged_in(client)
    response = client.post("/accounts/logout/")
    assert (response.status_code, response["Location"]) == (303, LOGIN)
    assert response["Clear-Site-Data"] == '"storage"'
    assert not Session.objects.filter(session_key=session_digest(key)).exists()


def test_the_admin_has_no_way_in_of_its_own(alice: User, client: Client) -> None:
    response = client.get("/admin/axes/", follow=True)
    assert response.redirect_chain[-1][0] == "/accounts/login/?next=/admin/axes/"
    client.post("/admin/login/", {"username": "alice", "password": PASSWORD})
    assert not is_logged_in(client)
    client.force_login(alice)
    assert client.get("/admin/", follow=True).status_code == 403  # no right, and no way round in a circle


class TestTheThrottle:
    def test_after_ten_failures_even_the_right_password_waits(
        self, alice: User, client: Client, hashed: list[str]
    ) -> None:
        hashed.clear()
        statuses = [log_in(client, password="wrong").status_code for _ in range(12)]
        assert statuses == [200] * 9 + [429] * 3
        response = log_in(client)
        assert response.status_code == 429
        assert 1 <= int(response["Retry-After"]) <= 900
        assert len(hashed) == 10
        assert not is_logged_in(client)

    def test_it_ends_after_a_quarter_of_an_hour(self, alice: User, client: Client) -> None:
        for _ in range(11):
            log_in(client, password="wrong")
        later = AccessAttempt.objects.get()
        AccessAttempt.objects.update(attempt_time=later.attempt_time - backends.settings.AXES_COOLOFF_TIME)
        assert log_in(client).status_code == 302

    def test_the_victim_gets_in_from_elsewhere(self, alice: User, client: Client) -> None:
        for _ in range(11):
            log_in(client, password="wrong", address="198.51.100.7")
        assert log_in(client, address="198.51.100.7").status_code == 429
        assert log_in(client, address="203.0.113.9").status_code == 302

    def test_a_success_forgets_the_failures(self, alice: User, client: Client) -> None:
        for _ in range(9):
            log_in(client, password="wrong")
        assert log_in(client).status_code == 302
        assert AccessAttempt.objects.count() == 0

    def test_every_name_of_an_account_counts_for_the_same(self, alice: User, client: Client) -> None:
        names = ["alice", "alice@example.org", "ALICE@example.org", "Alice@Example.ORG", "aLICE@example.org"]
        statuses = [log_in(client, login, "wrong").status_code for login in names * 3]
        assert statuses == [200] * 9 + [429] * 6

    def test_a_list_of_names_from_one_address_is_stopped(
        self, alice: User, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(backends, "ADDRESS_LIMIT", 12)
        statuses = [log_in(client, f"name-{number}", "Summer2026").status_code for number in range(14)]
        assert statuses == [200] * 12 + [429] * 2
        assert log_in(client).status_code == 429
        assert log_in(client, address="203.0.113.9").status_code == 302

    def test_guesses_at_one_name_stop_except_in_known_browsers(
        self, alice: User, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        User.objects.create_user("bob", "bob@example.org", PASSWORD)
        monkeypatch.setattr(backends, "NAME_LIMIT", 3)
        known, shared = Client(), Client()
        assert log_in(known).status_code == 302
        for name in ("bob", "alice@example.org"):
            assert log_in(shared, name).status_code == 302
            shared.cookies.pop("sessionid")
        cookie = known.cookies["known"]
        assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Strict", LOGIN)
        known.cookies.pop("sessionid")
        statuses = [
            log_in(client, name, "Summer2026", address=f"203.0.113.{number}").status_code
            for number, name in enumerate(("alice", "ALICE@example.org", "Alice", "alice", "alice"))
        ]
        assert statuses == [200] * 3 + [429] * 2
        assert log_in(client, address="203.0.113.77").status_code == 429
        client.cookies["known"] = f"x.{cookie.value[:-1]}"
        assert log_in(client, address="203.0.113.77").status_code == 429
        assert log_in(client, "bob", address="203.0.113.77").status_code == 302
        for browser in (known, shared):
            assert log_in(browser, address="203.0.113.78").status_code == 302

    def test_names_like_the_throttles_own_count_for_the_address_too(
        self, alice: User, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(backends, "ADDRESS_LIMIT", 3)
        names = ["session:1", "Session:2", "name:3", "session:4", "alice"]
        assert [log_in(client, name, "x").status_code for name in names] == [200] * 3 + [429] * 2

    def test_a_forged_header_gains_nothing(self, alice: User, client: Client) -> None:
        statuses = [log_in(client, password="wrong", forwarded=f"10.0.0.{n}").status_code for n in range(12)]
        assert statuses[-1] == 429

    def test_behind_a_proxy_only_what_the_proxy_wrote_counts(
        self, alice: User, client: Client, settings: Any
    ) -> None:
        settings.TRUSTED_PROXY = 1
        for number in range(11):
            log_in(client, password="wrong", forwarded=f"10.0.0.{number}, 198.51.100.7")
        assert log_in(client, forwarded="10.9.9.9, 198.51.100.7").status_code == 429
        assert log_in(client, forwarded="198.51.100.7, 203.0.113.9").status_code == 302

    def test_hammering_at_one_name_locks_the_address_for_nobody_else(
        self, alice: User, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(backends, "ADDRESS_LIMIT", 20)
        for _ in range(30):
            log_in(client, "victim", "wrong")
        assert log_in(client).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_thirty_tries_at_once_are_ten_hashes(alice: User, hashed: list[str]) -> None:
    hashed.clear()
    statuses = at_once(30, lambda: log_in(Client(), password="wrong").status_code)
    assert len(hashed) == 10
    assert sorted(statuses) == [200] * 9 + [429] * 21


def test_a_few_passwords_are_hashed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lock, now, most = threading.Lock(), [0], [0]
    full = threading.Barrier(passwords.HASHES_AT_ONCE)  # twelve are four times as many

    def slow(*_: Any) -> bool:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        full.wait(60)
        time.sleep(0.01)  # for one more, if there were a place
        with lock:
            now[0] -= 1
        return True

    monkeypatch.setattr(Argon2PasswordHasher, "verify", slow)
    assert at_once(12, lambda: passwords.GatedArgon2PasswordHasher().verify("x", "y")) == [True] * 12
    assert most == [passwords.HASHES_AT_ONCE]


def test_passwords_are_hashed_with_the_chosen_parameters(settings: Any) -> None:
    settings.PASSWORD_HASHERS = PASSWORD_HASHERS
    alice = User.objects.create_user("alice", "Alice@Example.org", PASSWORD)
    assert alice.password.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    assert not identify_hasher(alice.password).must_update(alice.password)


def test_an_older_hash_still_opens_and_is_renewed(alice: User, client: Client) -> None:
    User.objects.update(password=OLDER_HASH)
    assert log_in(client).status_code == 302
    alice.refresh_from_db()
    assert alice.password.startswith("argon2$")
    assert check_password(PASSWORD, alice.password)
