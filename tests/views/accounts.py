"""A person with a password, and requests that sign in or change it."""

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.test import Client

from chat.models import User
from chat.views.accounts.login import confirm
from tests.support.people import PASSWORD

LOGIN = "/accounts/login/"
PASSWORD_CHANGE = "/accounts/password/"
NEW_PASSWORD = "a lighthouse by the sea"
PASSWORD_FORM = {"current": PASSWORD, "new_password1": NEW_PASSWORD}
OLDER_HASH = PBKDF2PasswordHasher().encode(PASSWORD, "salt", 1)  # as another version stored it


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice", "Alice@Example.org", PASSWORD)


@pytest.fixture
def browser(alice: User, client: Client) -> Client:
    """One in which alice is signed in."""
    client.force_login(alice)
    return client


@pytest.fixture
def in_this_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do the database work of the view of keys in this thread, which has the test's transaction."""
    run_here = sync_to_async(lambda function, *args: function(*args))
    monkeypatch.setattr("chat.views.settings.keys.run_in_db", run_here)
    monkeypatch.setattr("chat.views.settings.keys.confirm_in_turn", sync_to_async(confirm))


def log_in(client: Client, login: str = "alice", password: str = PASSWORD, **more: Any) -> Any:
    headers = {"x-forwarded-for": more.pop("forwarded")} if "forwarded" in more else {}
    address = {"REMOTE_ADDR": more.pop("address")} if "address" in more else {}
    return client.post(LOGIN, {"login": login, "password": password, **more}, headers=headers, **address)
