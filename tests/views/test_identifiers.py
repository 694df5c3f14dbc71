"""One string is never one person's name and another's address, whatever its case or look."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from chat.models import User
from chat.models.identifier import digests
from tests.support.clients import as_
from tests.support.concurrency import at_once
from tests.support.invites import issue_invite
from tests.support.people import PASSWORD
from tests.views.accounts import log_in

pytestmark = [pytest.mark.django_db, pytest.mark.database]
NEW = "a lighthouse by the sea"
CYRILLIC = "\u0430lice"  # its first letter is not Latin


def form(name: str, address: str = "") -> dict[str, str]:
    return {"username": name, "email": address, "password1": NEW, "password2": NEW}


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice", "alice.smith@example.org", PASSWORD)


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("Alice", ""), ("ALICE", ""), (CYRILLIC, ""), ("al\u0131ce", ""), ("aIice", ""), ("a1ice", ""),
        ("\uff41lice", ""), ("alice.smith@example.org", ""), ("Alice.Smith@EXAMPLE.org", ""),
        ("\u0430lice.smith@example.org", ""), ("bob", "Alice.smith@Example.org"),
        ("bob", "a1ice.smith@example.org"),
    ],
)  # fmt: skip
def test_lookalike_account_names_are_refused(alice: User, name: str, address: str) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user(name, address, PASSWORD)
    assert User.objects.count() == 1


def test_a_name_cannot_become_somebodys_address(alice: User) -> None:
    User.objects.create_user("dave@corp.example", password=PASSWORD)
    for address in ("dave@corp.example", "DAVE@Corp.example"):
        with pytest.raises(IntegrityError), transaction.atomic():
            User.objects.create_user("mallory", address, PASSWORD)
        alice.email = address
        with pytest.raises(IntegrityError), transaction.atomic():
            alice.save()
    assert log_in(Client(), "dave@corp.example").status_code == 302


def test_ordinary_people_are_let_in() -> None:
    User.objects.create_user("alice", "alice@example.com", "pw")
    User.objects.create_user("bob", "", "pw")
    User.objects.create_user(username="carol", email=None, password="pw")
    User.objects.create_user("dave@example.com", "dave@example.com", "pw")  # both are his own
    User.objects.create_user("alice2", "alice2@example.com", "pw")
    for number in range(12):
        User.objects.create_user(f"user{number}", f"user{number}@example.com")
    User.objects.create_user("\u0430\u043d\u043d\u0430")  # one script, and nobody else's look
    User.objects.create_user("Zo\u00eb")
    assert User.objects.count() == 19


def test_a_name_that_is_given_up_can_be_taken(alice: User) -> None:
    alice.username, alice.email = "alicia", ""
    alice.save()
    User.objects.create_user("Alice", "alice.smith@example.org")
    alice.delete()
    User.objects.create_user("alicia")


def test_a_forms_field_says_so(alice: User) -> None:
    _, token = issue_invite(alice)
    for fields, wrong in ((form("Alice"), "username"), (form(CYRILLIC), "username"),
                          (form("alice.smith@example.org"), "username"),
                          (form("bob", "Alice.Smith@example.org"), "email"),
                          (form("bob", "a1ice.smith@example.org"), "email")):  # fmt: skip
        page = Client().post(f"/accounts/invite/{token}/", fields)
        assert page.status_code == 200
        assert page.context["form"].errors.keys() == {wrong}
        assert "Another account already uses this" in page.content.decode()
    assert Client().post(f"/accounts/invite/{token}/", form("bob", "bob@example.org")).status_code == 302


def test_the_administrators_form_says_so(alice: User) -> None:
    client = as_(User.objects.create_superuser("root"))
    bob = User.objects.create_user("bob")
    changed = {"username": CYRILLIC, "is_active": "on", "current": "not checked"}
    page = client.post(f"/admin/chat/user/{bob.pk}/change/", changed)
    assert page.context["adminform"].form.errors.keys() == {"username"}
    page = client.post("/admin/chat/user/add/", form("bob2", "alice.smith@example.org"))
    assert page.context["adminform"].form.errors.keys() == {"email"}


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_gets_the_name() -> None:
    names = ["alice", "Alice", CYRILLIC, "ALICE"]

    def make() -> bool:
        try:
            User.objects.create_user(names.pop())
        except IntegrityError:
            return False
        return True

    assert sorted(at_once(4, make)) == [False, False, False, True]
    assert User.objects.count() == 1


def test_lookalikes_share_a_digest() -> None:
    def alike(one: Any, other: Any) -> bool:
        return bool(digests(one, "") & digests(other, ""))

    assert alike("modern", "modem")
    assert alike("Ian", "lan")
    assert alike("b0b", "BOB")
    assert not alike("anna", "hannah")
    assert not alike("user1", "user2")
    assert digests("", "") == set()
