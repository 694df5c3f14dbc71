"""Changing one's own password, and choosing one with a link from the administrator."""

from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.tokens import default_token_generator
from django.test import Client
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from chat.accounts import backends
from chat.models import User
from tests.support.clients import as_
from tests.support.concurrency import at_once
from tests.support.people import PASSWORD
from tests.views.accounts import (
    NEW_PASSWORD,
    OLDER_HASH,
    PASSWORD_CHANGE,
    PASSWORD_FORM,
    alice,
    browser,
    log_in,
)

__all__ = ["alice", "browser"]
pytestmark = [pytest.mark.django_db, pytest.mark.database]


def is_in(client: Client) -> bool:
    return client.get(PASSWORD_CHANGE).status_code == 200


class TestOnesOwn:
    def test_it_is_changed_and_said_so(self, alice: User, browser: Client) -> None:
        response = browser.post(PASSWORD_CHANGE, PASSWORD_FORM)
        assert (response.status_code, response["Location"]) == (302, f"{PASSWORD_CHANGE}changed/")
        assert "Your password was changed" in browser.get(response["Location"]).content.decode()
        assert log_in(Client(), password=PASSWORD).status_code == 200
        assert log_in(Client(), password=NEW_PASSWORD).status_code == 302

    def test_this_session_goes_on_and_all_others_end(self, alice: User, browser: Client) -> None:
        other = as_(alice)
        key = browser.session.session_key
        browser.post(PASSWORD_CHANGE, PASSWORD_FORM)
        assert (is_in(browser), is_in(other)) == (True, False)
        assert browser.session.session_key != key

    @pytest.mark.parametrize("current", ["wrong", PASSWORD.upper(), PASSWORD + " "])
    def test_without_the_current_one_nothing_changes(
        self, current: str, alice: User, browser: Client
    ) -> None:
        page = browser.post(PASSWORD_CHANGE, PASSWORD_FORM | {"current": current})
        assert "That isn’t your current password." in page.content.decode()
        assert 'aria-invalid="true" aria-describedby="about_current"' in page.content.decode()
        alice.refresh_from_db()
        assert alice.check_password(PASSWORD)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"current": ""},
            {"current": "x" * 4096},
            {"new_password1": "short"},
            {"new_password1": "alice@example.org"},
            {"new_password1": "password123"},
            {"new_password1": "x" * 1025},
            {"new_password1": ""},
        ],
    )
    def test_invalid_new_password_is_refused_before_hashing(
        self, wrong: dict[str, str], alice: User, browser: Client, monkeypatch: Any
    ) -> None:
        monkeypatch.setattr(User, "check_password", lambda *_: pytest.fail("hashed"))
        assert browser.post(PASSWORD_CHANGE, PASSWORD_FORM | wrong).status_code == 200

    def test_a_stolen_session_cannot_try_all_passwords(self, alice: User, browser: Client) -> None:
        statuses = [
            browser.post(PASSWORD_CHANGE, PASSWORD_FORM | {"current": "wrong"}).status_code for _ in range(11)
        ]
        assert statuses == [200] * 9 + [429] * 2
        refused = browser.post(PASSWORD_CHANGE, PASSWORD_FORM)
        assert (refused.status_code, refused["Retry-After"]) == (429, "900")
        alice.refresh_from_db()
        assert alice.check_password(PASSWORD)
        assert str(browser.session.session_key) not in AccessAttempt.objects.get().username

    def test_the_thief_of_another_session_bars_nobody(self, alice: User, browser: Client) -> None:
        thief = Client(REMOTE_ADDR="198.51.100.7")
        thief.force_login(alice)
        for _ in range(11):
            thief.post(PASSWORD_CHANGE, PASSWORD_FORM | {"current": "wrong"})
        assert thief.post(PASSWORD_CHANGE, PASSWORD_FORM).status_code == 429
        thief.defaults["REMOTE_ADDR"] = "203.0.113.9"  # the session is what counts, wherever it is used from
        assert thief.post(PASSWORD_CHANGE, PASSWORD_FORM).status_code == 429
        assert browser.post(PASSWORD_CHANGE, PASSWORD_FORM).status_code == 302

    def test_failed_log_ins_do_not_bar_who_is_signed_in(
        self, alice: User, browser: Client, monkeypatch: Any
    ) -> None:
        monkeypatch.setattr(backends, "ADDRESS_LIMIT", 5)
        for _ in range(11):
            log_in(Client(), password="wrong")
        assert log_in(Client()).status_code == 429
        assert browser.post(PASSWORD_CHANGE, PASSWORD_FORM).status_code == 302

    def test_wrong_confirmations_lock_no_login(self, alice: User, browser: Client, monkeypatch: Any) -> None:
        monkeypatch.setattr(backends, "ADDRESS_LIMIT", 5)
        for _ in range(11):
            browser.post(PASSWORD_CHANGE, PASSWORD_FORM | {"current": "wrong"})
        assert log_in(Client()).status_code == 302

    def test_the_right_password_forgets_the_failures(self, alice: User, browser: Client) -> None:
        for _ in range(9):
            browser.post(PASSWORD_CHANGE, PASSWORD_FORM | {"current": "wrong"})
        assert browser.post(PASSWORD_CHANGE, PASSWORD_FORM).status_code == 302
        assert not AccessAttempt.objects.exists()

    def test_a_name_that_was_an_address_of_another_changes_its_own(self, alice: User, client: Client) -> None:
        """Store such a name, which was allowed once."""
        mallory = User.objects.create_user("mallory", "mallory@example.org", "mallory's password")
        User.objects.filter(pk=mallory.pk).update(username="alice@example.org")
        client.force_login(mallory)
        assert client.post(PASSWORD_CHANGE, PASSWORD_FORM).status_code == 200
        assert (
            client.post(PASSWORD_CHANGE, PASSWORD_FORM | {"current": "mallory's password"}).status_code == 302
        )
        alice.refresh_from_db()
        mallory.refresh_from_db()
        assert alice.check_password(PASSWORD)
        assert mallory.check_password(NEW_PASSWORD)

    def test_an_older_hash_is_no_obstacle(self, alice: User, client: Client) -> None:
        User.objects.update(password=OLDER_HASH)
        client.force_login(User.objects.get())
        assert client.post(PASSWORD_CHANGE, PASSWORD_FORM)["Location"] == f"{PASSWORD_CHANGE}changed/"
        assert is_in(client)

    def test_an_account_disabled_meanwhile_stays_disabled(self, alice: User) -> None:
        read_before = User.objects.get()
        User.objects.update(is_active=False)
        assert read_before.replace_password(NEW_PASSWORD)
        assert not User.objects.get().is_active


RESET = {"new_password1": NEW_PASSWORD}


class TestALink:
    @pytest.fixture
    def link(self, alice: User) -> str:
        alice.set_unusable_password()  # as the administration does first
        alice.save()
        key = urlsafe_base64_encode(force_bytes(alice.pk))
        return f"/accounts/reset/{key}/{default_token_generator.make_token(alice)}/"

    def test_it_goes_on_to_an_address_without_the_token(self, link: str, client: Client) -> None:
        response = client.get(link)
        assert response.status_code == 302
        assert response["Location"] == "/".join(link.split("/")[:-2]) + "/set-password/"
        page = client.get(response["Location"])
        assert "alice" in page.content.decode()
        assert link.split("/")[-2] not in page.content.decode()

    def test_reset_logs_in_and_ends_the_other_sessions(
        self,
        alice: User,
        browser: Client,
        link: str,  # in this order: a login ends the link
    ) -> None:
        new = Client()
        response = new.post(new.get(link)["Location"], RESET)
        assert (response.status_code, response["Location"]) == (302, "/")
        assert (is_in(new), is_in(browser)) == (True, False)
        alice.refresh_from_db()
        assert alice.check_password(NEW_PASSWORD)

    def test_invalid_reset_links_are_the_same_404(
        self, alice: User, link: str, client: Client, settings: Any
    ) -> None:
        key, token = link.split("/")[3:5]
        bob = urlsafe_base64_encode(force_bytes(User.objects.create_user("bob").pk))
        dead = [f"{key}/{token[:-1]}x", f"{key}/x", f"{bob}/{token}", f"!/{token}", f"{key}/set-password"]
        dead.append(f"{urlsafe_base64_encode(b'9' * 40)}/{token}")
        responses = [client.get(f"/accounts/reset/{rest}/") for rest in dead]
        responses += [client.post(f"/accounts/reset/{rest}/", RESET) for rest in dead]
        settings.PASSWORD_RESET_TIMEOUT = -1
        responses.append(client.get(link))
        settings.PASSWORD_RESET_TIMEOUT = 259_200
        used = Client()
        used.post(used.get(link)["Location"], RESET)
        responses.append(client.get(link))
        assert {response.status_code for response in responses} == {404}
        assert len({response.content for response in responses}) == 1

    def test_it_is_valid_for_three_days(self, settings: Any) -> None:
        assert settings.PASSWORD_RESET_TIMEOUT == 3 * 24 * 60 * 60

    def test_a_disabled_person_gets_nowhere_with_it(self, alice: User, link: str, client: Client) -> None:
        User.objects.update(is_active=False)
        assert client.get(link).status_code == 404

    def test_it_is_dead_after_the_person_was_disabled(self, alice: User, link: str, client: Client) -> None:
        form = client.get(link)["Location"]
        for is_active in (False, True):
            alice.is_active = is_active
            alice.save(update_fields=["is_active"])
        assert [client.get(link).status_code, client.post(form, RESET).status_code] == [404, 404]
        assert not User.objects.get().has_usable_password()

    def test_the_rules_hold_here_too(self, alice: User, link: str, client: Client) -> None:
        page = client.post(client.get(link)["Location"], {"new_password1": "short"})
        assert 'aria-invalid="true" aria-describedby="about_new_password1"' in page.content.decode()

    def test_the_browsers_former_session_ends(self, link: str, client: Client) -> None:
        client.force_login(User.objects.create_user("bob"))
        client.post(client.get(link)["Location"], RESET)
        assert client.session["_auth_user_id"] == str(User.objects.get(username="alice").pk)

    @pytest.mark.django_db(transaction=True)
    def test_of_two_at_once_one_sets_it(self, alice: User, link: str) -> None:
        browsers = [Client() for _ in range(4)]
        ways = [(browser, browser.get(link)["Location"]) for browser in browsers]
        statuses = at_once(4, lambda: (way := ways.pop())[0].post(way[1], RESET).status_code)
        assert sorted(statuses) == [302, 404, 404, 404]
