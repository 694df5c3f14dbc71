"""The current password, where it is asked for: one check at a time, and none in a database thread."""

import threading
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from chat.accounts import backends
from chat.models import ApiKey, User
from tests.support.clients import as_
from tests.support.concurrency import at_once
from tests.support.people import PASSWORD
from tests.views.accounts import PASSWORD_CHANGE, PASSWORD_FORM

pytestmark = [pytest.mark.database]
KEYS = "/settings/keys/"
WANTED = {"name": "a program", "run": "1", "list": "1", "password": PASSWORD}
POSTS = 6
database_thread = threading.local()


@pytest.fixture(autouse=True)
def marked_database_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work of a database thread in the test's own thread, which knows what it does at the moment."""

    def marked(function: Any, *args: Any) -> Any:
        database_thread.busy = True
        try:
            return function(*args)
        finally:
            database_thread.busy = False

    monkeypatch.setattr("chat.views.settings.keys.run_in_db", lambda *args: sync_to_async(marked)(*args))


def signed_in() -> Client:
    return as_(User.objects.create_user("alice", "alice@example.org", PASSWORD))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("path", "fields", "done"), [(KEYS, WANTED, 303), (PASSWORD_CHANGE, PASSWORD_FORM, 302)]
)
def test_the_next_of_a_session_is_refused_while_one_is_checked(
    path: str, fields: dict[str, str], done: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = signed_in().cookies
    refused, check = threading.Semaphore(0), backends.check_password
    hashed_in_database_thread: list[bool] = []

    def slow(*args: Any) -> bool:
        hashed_in_database_thread.append(getattr(database_thread, "busy", False))
        assert all(refused.acquire(timeout=10) for _ in range(POSTS - 1))
        return check(*args)

    def post() -> Any:
        client = Client()
        client.cookies = session
        response = client.post(path, fields)
        refused.release()
        return response

    monkeypatch.setattr(backends, "check_password", slow)
    responses = at_once(POSTS, post)
    assert [response.status_code for response in responses] == [429] * (POSTS - 1) + [done]
    assert {response["Retry-After"] for response in responses[:-1]} == {"1"}
    assert hashed_in_database_thread == [False]
    assert ApiKey.objects.count() == (path == KEYS)


@pytest.mark.django_db
def test_key_limit_is_checked_before_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    client = signed_in()
    keys = [ApiKey(user=User.objects.get(), name="one of many") for _ in range(50)]
    for key in keys:
        key.generate_secret()
    ApiKey.objects.bulk_create(keys)
    monkeypatch.setattr(backends, "check_password", lambda *_: pytest.fail("hashed"))
    assert client.post(KEYS, WANTED).status_code == 409
