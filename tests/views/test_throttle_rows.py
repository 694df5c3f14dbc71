"""The rows of the login throttle: a failed attempt's name and time, and nothing else of the request."""

from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from axes.models import AccessAttempt
from django.test import Client

from chat.models import User
from chat.views.accounts.login import confirm
from tests.support.people import PASSWORD
from tests.views.accounts import log_in

pytestmark = [pytest.mark.django_db, pytest.mark.database]
SENT = "never to be stored"
NEW = {"new_password1": f"{SENT} 1"}
KEY = {"name": SENT, "run": "1", "list": "1"}


@pytest.fixture(autouse=True)
def in_this_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the views' database work in this thread, which has the test's transaction."""
    monkeypatch.setattr(
        "chat.views.settings.keys.run_in_db", lambda function, *args: sync_to_async(function)(*args)
    )
    monkeypatch.setattr("chat.views.settings.keys.confirm_in_turn", sync_to_async(confirm))


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice", "alice@example.org", PASSWORD)


@pytest.fixture
def browser(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


def columns() -> Iterator[Any]:
    return (value for row in AccessAttempt.objects.values_list() for value in row)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/accounts/password/", {"current": SENT, **NEW}),
        ("/settings/keys/", {"password": SENT, **KEY}),
    ],
)
def test_nothing_of_a_confirmation_is_stored(
    browser: Client, path: str, fields: dict[str, str], times: int
) -> None:
    for _ in range(times):
        browser.post(f"{path}?next={SENT}", fields)
    attempt = AccessAttempt.objects.get()
    assert (attempt.failures_since_start, attempt.path_info) == (times, path)
    assert not [value for value in columns() if SENT in str(value)]
    assert (attempt.get_data, attempt.post_data) == ("", "")


@pytest.mark.parametrize("times", [1, 2])
def test_nothing_of_a_log_in_is_stored(alice: User, client: Client, times: int) -> None:
    for _ in range(times):
        log_in(client, password=SENT, content=SENT, next=f"/{SENT}")
    attempt = AccessAttempt.objects.get()
    assert (attempt.username, attempt.failures_since_start) == ("name:alice", times)
    assert (attempt.get_data, attempt.post_data) == ("", "")
    assert not [value for value in columns() if SENT in str(value)]
