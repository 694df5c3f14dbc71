"""A new password for somebody who lost theirs: by a link that is shown once, or set by hand."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from chat.models import User
from tests.admin.people import ORDER_LINK, SET_PASSWORD, address
from tests.support.clients import as_
from tests.support.people import PASSWORD
from tests.views.accounts import NEW_PASSWORD, log_in

pytestmark = [pytest.mark.django_db, pytest.mark.database]
LINK = re.compile(r'value="http://localhost:8000(/accounts/reset/[^"]+)"')
RESET = {"new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}


def made(client: Client, user: User) -> str:
    """The link that the page shows once."""
    page = client.post(address(user, "link"), ORDER_LINK)
    found = LINK.search(page.content.decode())
    assert found
    assert page["Cache-Control"] in ("no-store", "max-age=0, no-cache, no-store, must-revalidate, private")
    return found[1]


def is_in(client: Client) -> bool:
    return client.get("/accounts/password/").status_code == 200


def test_looking_at_the_page_changes_nothing(root: User, alice: User) -> None:
    hers = as_(alice)
    page = as_(root).get(address(alice, "link")).content.decode()
    assert "stops working at once" in page
    assert not LINK.search(page)
    assert is_in(hers)


def test_making_a_link_ends_the_old_password_and_its_sessions(root: User, alice: User) -> None:
    hers = as_(alice)
    made(as_(root), alice)
    assert not is_in(hers)
    assert log_in(Client(), "alice", PASSWORD).status_code == 200


def test_the_person_chooses_another_one_with_it(root: User, alice: User) -> None:
    link, hers = made(as_(root), alice), Client()
    assert hers.post(hers.get(link)["Location"], RESET)["Location"] == "/"
    assert is_in(hers)
    assert log_in(Client(), "alice", NEW_PASSWORD).status_code == 302
    assert Client().get(link).status_code == 404


def test_the_next_link_kills_the_one_before(root: User, alice: User) -> None:
    client = as_(root)
    first, second = made(client, alice), made(client, alice)
    assert Client().get(first).status_code == 404
    assert Client().get(second).status_code == 302


def test_it_is_noted_that_it_was_made_but_not_the_link(root: User, alice: User) -> None:
    link = made(as_(root), alice)
    entry = LogEntry.objects.get()
    assert (entry.user, entry.object_id) == (root, str(alice.pk))
    assert link.split("/")[-2] not in entry.change_message
    assert "password reset link" in entry.change_message


def test_a_disabled_person_has_to_be_enabled_first(root: User, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_active=False)
    response = as_(root).post(address(alice, "link"), ORDER_LINK, follow=True)
    assert "Enable the account first." in response.content.decode()
    alice.refresh_from_db()
    assert alice.has_usable_password()


def test_staff_make_links_for_people_without_rights(carol: User, alice: User) -> None:
    assert made(as_(carol), alice)


def test_an_unknown_person_is_not_found(root: User) -> None:
    assert as_(root).get("/admin/chat/user/9999999/link/").status_code == 404


def test_a_link_is_made_by_a_form_with_its_token(root: User, alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(root)
    assert client.post(address(alice, "link"), ORDER_LINK).status_code == 403
    alice.refresh_from_db()
    assert alice.has_usable_password()


@pytest.mark.parametrize("page", ["link", "password"])
def test_own_password_change_requires_the_current_one(page: str, root: User) -> None:
    response = as_(root).post(address(root, page), SET_PASSWORD)
    assert (response.status_code, response["Location"]) == (302, "/accounts/password/")
    root.refresh_from_db()
    assert not root.check_password(NEW_PASSWORD)


def test_one_set_by_hand_ends_the_sessions_too(root: User, alice: User) -> None:
    hers = as_(alice)
    response = as_(root).post(address(alice, "password"), SET_PASSWORD)
    assert response.status_code == 302
    assert not is_in(hers)
    assert log_in(Client(), "alice", NEW_PASSWORD).status_code == 302


@pytest.mark.parametrize(
    "wrong",
    [
        {"password1": "short", "password2": "short"},
        {"password2": "another long one"},
        {"password1": "", "password2": ""},
        {"password1": "x" * 1025, "password2": "x" * 1025},
    ],
)
def test_the_rules_hold_for_the_administrator_too(wrong: dict[str, str], root: User, alice: User) -> None:
    response = as_(root).post(address(alice, "password"), SET_PASSWORD | wrong)
    assert response.status_code == 200
    assert response.context["form"].errors
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)


def test_a_password_cannot_be_taken_away(root: User, alice: User) -> None:
    form = {"usable_password": "false", "unset-password": "1", "password1": "", "password2": ""}
    form |= ORDER_LINK
    as_(root).post(address(alice, "password"), form)
    alice.refresh_from_db()
    assert alice.has_usable_password()
