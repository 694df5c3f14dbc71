"""The preferences cost no query of their own: they are read together with the session's user."""

import pytest
from django.test import RequestFactory
from django.utils.functional import SimpleLazyObject

from chat.accounts.backends import AccountBackend
from chat.accounts.sessions import SessionStore
from chat.models import Preferences, User
from chat.views.requests.access import get_user

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice", password="correct horse battery")


@pytest.mark.parametrize("saved", [False, True])
def test_a_users_preferences_come_in_one_query(alice: User, saved: bool, django_assert_num_queries) -> None:
    if saved:
        Preferences.objects.create(user=alice, theme="dark", instructions="Be brief.")
    with django_assert_num_queries(1):
        user = AccountBackend().get_user(alice.pk)
        row = Preferences.of(user)
        assert (row is not None) is saved
        assert not row or (row.theme, row.has_instructions) == ("dark", True)
    assert user == alice
    assert user is not None
    assert user.password == alice.password


def test_instructions_are_read_where_they_are_used(alice: User, django_assert_num_queries) -> None:
    Preferences.objects.create(user=alice, instructions="Be brief.")
    row = Preferences.of(AccountBackend().get_user(alice.pk))
    assert row is not None
    with django_assert_num_queries(1):
        assert row.instructions == "Be brief."


def test_a_deleted_user_leaves_no_preferences(alice: User) -> None:
    Preferences.objects.create(user=alice)
    alice.delete()
    assert not Preferences.objects.exists()


def test_a_signed_in_user_holds_no_request_in_memory(alice: User) -> None:
    request = RequestFactory().get("/")
    request.session = SessionStore()
    request.user = SimpleLazyObject(lambda: alice)  # type: ignore[assignment]
    assert type(get_user(request)) is User
