"""Our way to a session's data finds what Django's does."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone

from chat.models import User
from chatsite.sessions import SessionStore

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def key() -> str:
    store = SessionStore()
    store["name"] = "Zoë"
    store.save()
    assert store.session_key
    return store.session_key


def test_a_session_is_read_as_django_reads_it(key: str) -> None:
    assert SessionStore(key).load() == db.SessionStore(key).load() == {"name": "Zoë"}


@pytest.mark.parametrize("state", ["unknown", "expired", "none"])
def test_what_is_no_session_is_a_new_one(key: str, state: str) -> None:
    Session.objects.filter(pk=key).update(expire_date=timezone.now() - timedelta(seconds=1))
    store = SessionStore({"unknown": "x" * 32, "expired": key, "none": None}[state])
    assert store.load() == {}
    assert store.session_key is None


@pytest.mark.parametrize("state", ["active", "disabled", "gone"])
def test_a_session_leads_to_its_person_as_long_as_that_one_is_let_in(state: str) -> None:
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
