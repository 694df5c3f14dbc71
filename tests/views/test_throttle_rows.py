"""The rows of the login throttle: a failed attempt's name and time, and nothing else of the request."""

from collections.abc import Iterator
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.test import Client

from chat.models import User
from tests.views.accounts import alice, browser, in_this_thread, log_in

__all__ = ["alice", "browser", "in_this_thread"]
pytestmark = [pytest.mark.django_db, pytest.mark.database]
SENT = "never to be stored"
NEW = {"new_password1": f"{SENT} 1"}
KEY = {"name": SENT, "run": "1", "list": "1"}


def columns() -> Iterator[Any]:
    return (value for row in AccessAttempt.objects.values_list() for value in row)


@pytest.mark.usefixtures("in_this_thread")
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    ("path", "fields"),
    [("/accounts/password/", {"current": SENT, **NEW}), ("/settings/keys/", {"password": SENT, **KEY})],
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
