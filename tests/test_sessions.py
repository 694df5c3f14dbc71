"""Our way to a session's data finds what Django's does."""

from datetime import timedelta

import pytest
from django.contrib.auth import BACKEND_SESSION_KEY, SESSION_KEY, get_user
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone

from chat.accounts.sessions import SessionStore, session_digest
from chat.models import ApiKey, User

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def key() -> str:
    store = SessionStore()
    store["name"] = "Zoë"
    store.save()
    assert store.session_key
    return store.session_key


def test_a_session_is_read_as_django_reads_it(key: str) -> None:
    assert SessionStore(key).load() == db.SessionStore(session_digest(key)).load() == {"name": "Zoë"}


def test_a_session_begun_under_the_former_backend_goes_on(client: Client) -> None:
    zoe = User.objects.create_user("zoe")
    client.force_login(zoe)
    store = client.session
    store[BACKEND_SESSION_KEY] = "chat.backends.AccountBackend"
    store.save()
    request = HttpRequest()
    request.session = client.session
    assert get_user(request) == zoe


def test_the_database_holds_no_key_that_opens_a_session(key: str) -> None:
    row = Session.objects.get()
    assert row.session_key == session_digest(key) != key
    assert SessionStore(row.session_key).load() == {}
    assert key not in repr(Session.objects.values_list())


def test_a_session_is_renewed_stored_and_ended_under_its_hash(key: str) -> None:
    store = SessionStore(key)
    assert store.exists(key)
    assert not store.exists(session_digest(key))
    store["more"] = 1
    store.save()
    store.cycle_key()
    assert (Session.objects.count(), SessionStore(key).load()) == (1, {})
    assert SessionStore(store.session_key).load() == {"name": "Zoë", "more": 1}
    store.flush()
    assert not Session.objects.exists()


@pytest.mark.django_db(transaction=True)
async def test_asynchronously_too() -> None:
    store = SessionStore()
    await store.aset("name", "Zoë")
    await store.asave()
    key = store.session_key
    assert key
    again = SessionStore(key)
    assert await again.aexists(key)
    assert await again.aload() == {"name": "Zoë"}
    await again.asave()
    await again.adelete()
    assert await SessionStore(key).aload() == {}


@pytest.mark.parametrize("state", ["unknown", "expired", "none", "nul"])
def test_an_invalid_session_is_a_new_one(key: str, state: str) -> None:
    Session.objects.filter(pk=session_digest(key)).update(expire_date=timezone.now() - timedelta(seconds=1))
    store = SessionStore({"unknown": "x" * 32, "expired": key, "none": None, "nul": "\0" * 32}[state])
    assert store.load() == {}
    assert store.session_key is None


@pytest.mark.parametrize("state", ["active", "disabled", "gone"])
def test_session_is_valid_while_its_user_is_active(state: str) -> None:
    zoe = User.objects.create_user("zoe", email="zoe@example.org")
    browser = Client()
    browser.force_login(zoe)
    if state == "gone":
        zoe.delete()
    User.objects.filter(username="zoe").update(is_active=state != "disabled")
    request = HttpRequest()
    request.session = browser.session
    found = get_user(request)
    assert found.is_authenticated == (state == "active")
    if state == "active":
        assert (found, found.date_joined, found.email) == (zoe, zoe.date_joined, "zoe@example.org")


def test_access_of_a_disabled_person_ends_for_good() -> None:
    """A stolen session or key must not open an account again that is enabled after the weekend."""
    browsers = {name: Client() for name in ("zoe", "bob")}
    for name, browser in browsers.items():
        user = User.objects.create_user(name)
        key = ApiKey(user=user, name="k")
        key.generate_secret()
        key.save()
        browser.force_login(user)
    zoe = User.objects.get(username="zoe")
    for is_active in (False, True):
        zoe.is_active = is_active
        zoe.save()
    assert [name for name, browser in browsers.items() if SESSION_KEY in browser.session] == ["bob"]
    assert list(ApiKey.objects.valid().values_list("user__username", flat=True)) == ["bob"]
