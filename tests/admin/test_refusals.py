"""Refusals of the administration: one line each, which does not reveal what exists."""

import logging
import uuid

import pytest
from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.test import Client

from chat.models import Conversation, User
from chat.telemetry.log_format import LineFormatter, RefusalFilter
from tests.admin import seed
from tests.support.clients import as_
from tests.support.invites import issue_invite

pytestmark = pytest.mark.django_db


@pytest.fixture
def carol() -> Client:
    """Staff without any right."""
    return as_(User.objects.create_user("carol", is_staff=True))


@pytest.mark.parametrize("key", ["x", "1", "%00", "conversation"])
def test_view_on_site_is_404_for_any_key(administrator: Client, key: str) -> None:
    kind = ContentType.objects.get_for_model(Conversation).pk
    found = key if key != "conversation" else str(seed.talk().pk)
    for address in (f"/admin/r/{kind}/{found}/", f"/admin/r/999/{found}/", f"/admin/r/{key}/{key}/"):
        assert administrator.get(address).status_code == 404
        assert Client().get(address)["Location"].startswith("/admin/login/")


@pytest.mark.parametrize("what", ["auth/group", "chat/invite"])
def test_the_history_tells_staff_without_the_right_nothing(carol: Client, what: str) -> None:
    root = User.objects.create_superuser("root")
    there = Group.objects.create(name="x").pk if what == "auth/group" else issue_invite(root)[0].pk
    responses = [carol.get(f"/admin/{what}/{key}/history/") for key in (there, 999_999, uuid.uuid4())]
    assert [response.status_code for response in responses] == [403] * 3
    assert len({response.content for response in responses}) == 1


def test_a_refusal_is_one_line_of_the_log(carol: Client, caplog: pytest.LogCaptureFixture) -> None:
    carol.get("/admin/chat/user/")
    record = next(each for each in caplog.records if "Forbidden" in each.message)
    record.exc_info = (PermissionDenied, PermissionDenied(), None)  # as before any handler saw it
    assert "\n" in LineFormatter().format(record)
    record.exc_text = None
    assert RefusalFilter().filter(record)
    assert LineFormatter().format(record).count("\n") == 0


def test_an_error_keeps_its_traceback() -> None:
    try:
        raise ValueError
    except ValueError as error:
        info = (ValueError, error, error.__traceback__)
    record = logging.LogRecord("django.request", logging.ERROR, __file__, 1, "broken", (), info)
    record.status_code = 500
    assert RefusalFilter().filter(record)
    assert "Traceback" in LineFormatter().format(record)


def test_the_log_of_the_site_uses_it(settings: object) -> None:
    assert settings.LOGGING["handlers"]["stream"]["filters"] == ["refusals"]
