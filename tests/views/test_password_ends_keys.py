"""A new password, by whichever way, revokes the API keys that were made with the old one."""

import html
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.tokens import default_token_generator
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from chat.models import ApiKey, User
from tests.support.clients import as_
from tests.support.people import PASSWORD
from tests.views.accounts import (
    NEW_PASSWORD,
    OLDER_HASH,
    PASSWORD_CHANGE,
    PASSWORD_FORM,
    alice,
    in_this_thread,
)

__all__ = ["alice", "in_this_thread"]
pytestmark = [pytest.mark.django_db, pytest.mark.database]
KEYS = "/settings/keys/"
WANTED = {"name": "another", "run": "1", "list": "1"}


@pytest.fixture
def secret(alice: User) -> str:
    return key_of(alice)


def key_of(user: User, name: str = "a program") -> str:
    key = ApiKey(user=user, name=name)
    secret = key.generate_secret()
    key.save()
    return secret


def works(secret: str) -> bool:
    return ApiKey.objects.by_secret(secret) is not None


def by_her_own_change(alice: User, monkeypatch: Any) -> None:
    assert as_(alice).post(PASSWORD_CHANGE, PASSWORD_FORM).status_code == 302


def by_ordering_a_link(alice: User, monkeypatch: Any) -> None:
    root = User.objects.create_superuser("root", password=PASSWORD)
    assert as_(root).post(f"/admin/chat/user/{alice.pk}/link/", {"current": PASSWORD}).status_code == 200


def by_a_link(alice: User, monkeypatch: Any) -> None:
    key, token = urlsafe_base64_encode(force_bytes(alice.pk)), default_token_generator.make_token(alice)
    client = Client()
    page = client.get(f"/accounts/reset/{key}/{token}/")["Location"]
    assert client.post(page, {"new_password1": NEW_PASSWORD}).status_code == 302


def by_the_administrator(alice: User, monkeypatch: Any) -> None:
    root = User.objects.create_superuser("root", password=PASSWORD)
    form = {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD, "current": PASSWORD}
    assert as_(root).post(f"/admin/chat/user/{alice.pk}/password/", form).status_code == 302


def by_the_command(alice: User, monkeypatch: Any) -> None:
    monkeypatch.setattr("getpass.getpass", lambda *_, **__: NEW_PASSWORD)
    try:
        call_command("changepassword", "alice", verbosity=0)
    except CommandError as error:
        pytest.fail(str(error))


def by_the_model(alice: User, monkeypatch: Any) -> None:
    alice.set_password(NEW_PASSWORD)
    alice.save()


def by_taking_it_away(alice: User, monkeypatch: Any) -> None:
    alice.set_unusable_password()
    alice.save()


WAYS = [by_her_own_change, by_ordering_a_link, by_a_link, by_the_administrator, by_the_command, by_the_model,
        by_taking_it_away]  # fmt: skip


@pytest.mark.parametrize("change", WAYS)
def test_the_keys_end_with_the_password(
    change: Callable[..., None], alice: User, secret: str, monkeypatch: Any
) -> None:
    others = key_of(User.objects.create_user("bob"))
    assert works(secret)
    change(alice, monkeypatch)
    alice.refresh_from_db()
    assert not alice.check_password(PASSWORD)
    assert (works(secret), works(others)) == (False, True)


def test_a_refused_password_ends_no_key(alice: User, secret: str) -> None:
    User.objects.update(password=OLDER_HASH)
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)  # renews the outdated hash
    alice.email = "another@example.org"
    alice.save()
    alice.refresh_from_db()
    assert alice.password.startswith("argon2$")
    assert works(secret)


class TestKeeping:
    def test_page_lists_keys_and_keeps_the_chosen_ones(self, alice: User, secret: str) -> None:
        known, expired = key_of(alice, "of my laptop"), key_of(alice, "outdated")
        ApiKey.objects.filter(name="outdated").update(expires="2020-01-01T00:00Z")
        client = as_(alice)
        page = client.get(PASSWORD_CHANGE).content.decode()
        assert ("a program" in page, "of my laptop" in page, "outdated" in page) == (True, True, False)
        assert "checked" not in page
        key = ApiKey.objects.get(name="of my laptop")
        assert client.post(PASSWORD_CHANGE, PASSWORD_FORM | {"keep": [str(key.pk)]}).status_code == 302
        assert [works(each) for each in (secret, known, expired)] == [False, True, False]
        assert works(known)

    @pytest.mark.parametrize("whose", ["bob's", "revoked", "odd"])
    def test_only_ones_own_valid_keys_can_be_kept(self, alice: User, secret: str, whose: str) -> None:
        key_of(User.objects.create_user("bob"), "bob's")
        key_of(alice, "revoked")
        ApiKey.objects.filter(name="revoked").update(revoked="2026-01-01T00:00Z")
        found = ApiKey.objects.filter(name=whose).first()
        response = as_(alice).post(
            PASSWORD_CHANGE, PASSWORD_FORM | {"keep": [str(found.pk) if found else "odd"]}
        )
        assert response.status_code == 200
        assert response.context["form"].errors.keys() == {"keep"}
        assert str(response.context["form"].errors["keep"][0]) in html.unescape(response.content.decode())
        alice.refresh_from_db()
        assert alice.check_password(PASSWORD)
        assert works(secret)

    def test_the_choice_survives_a_mistake_elsewhere_in_the_form(self, alice: User, secret: str) -> None:
        key = str(ApiKey.objects.get().pk)
        page = (
            as_(alice)
            .post(PASSWORD_CHANGE, PASSWORD_FORM | {"keep": [key], "current": "wrong"})
            .content.decode()
        )
        assert f'value="{key}" checked' in page


@pytest.mark.usefixtures("in_this_thread")
class TestMakingAKey:
    @pytest.mark.parametrize(("password", "status"), [(PASSWORD, 303), ("wrong", 403), (PASSWORD + " ", 403)])
    def test_it_takes_the_password(self, alice: User, password: str, status: int) -> None:
        response = as_(alice).post(KEYS, WANTED | {"password": password})
        assert response.status_code == status
        assert ApiKey.objects.count() == (status == 303)
        assert ("That isn’t your current password." in response.content.decode()) == (status == 403)

    def test_without_one_it_is_refused(self, alice: User) -> None:
        assert as_(alice).post(KEYS, WANTED).status_code == 400
        assert as_(alice).post(KEYS, WANTED | {"password": "x" * 1025}).status_code == 413
        assert not ApiKey.objects.exists()

    def test_programs_are_told_in_json(self, alice: User) -> None:
        wanted = {"name": "x", "run": True, "password": "wrong"}
        response = as_(alice).post(KEYS, wanted, content_type="application/json")
        assert (response.status_code, response.json()["error"]["code"]) == (403, "wrong_password")

    def test_a_stolen_session_cannot_try_all_passwords(self, alice: User) -> None:
        client = as_(alice)
        statuses = [client.post(KEYS, WANTED | {"password": "wrong"}).status_code for _ in range(11)]
        assert statuses == [403] * 9 + [429] * 2
        refused = client.post(KEYS, WANTED | {"password": PASSWORD})
        assert (refused.status_code, refused["Retry-After"]) == (429, "900")
        assert not ApiKey.objects.exists()

    def test_an_older_hash_does_not_end_the_session(self, alice: User) -> None:
        User.objects.update(password=OLDER_HASH)
        client = as_(User.objects.get())
        assert client.post(KEYS, WANTED | {"password": PASSWORD}).status_code == 303
        assert client.get(KEYS).status_code == 200

    def test_a_password_that_is_replaced_meanwhile_makes_none(self, alice: User, monkeypatch: Any) -> None:
        @sync_to_async
        def confirmed(*_: Any) -> bool:
            User.objects.get().replace_password(NEW_PASSWORD)
            return True

        monkeypatch.setattr("chat.views.settings.keys.confirm_in_turn", confirmed)
        assert as_(alice).post(KEYS, WANTED | {"password": PASSWORD}).status_code == 302
        assert not ApiKey.objects.exists()
