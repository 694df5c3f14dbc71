"""The permissions in the forms of a group and of a person: those with an effect, in words."""

from html import unescape

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.test import RequestFactory

from chat.admin.permissions import WORDS
from chat.models import User
from tests.admin.people import address
from tests.support.clients import as_
from tests.support.people import PASSWORD

pytestmark = [pytest.mark.django_db, pytest.mark.database]
ADD = "/admin/auth/group/add/"


def of(codename: str) -> Permission:
    return Permission.objects.get(codename=codename)


@pytest.mark.parametrize("page", ["group", "person"])
def test_they_are_offered_in_words(root: User, alice: User, page: str) -> None:
    shown = unescape(as_(root).get(ADD if page == "group" else address(alice)).content.decode())
    for words in ("review chats", "invite people", "see who read what"):
        assert f"{words}</label>" in shown
    for raw in ("Can view", "Can add", "log entry", "content type"):
        assert raw not in shown


def test_each_is_one_of_the_site() -> None:
    stored = set(Permission.objects.values_list("content_type__app_label", "codename"))
    assert set(WORDS) <= stored


def test_one_that_is_not_offered_opens_no_list(carol: User) -> None:
    """Those to change what only can be viewed let view it, as Django has it: the form has those to view."""
    request = RequestFactory().get("/admin/")
    opened = []
    for permission in Permission.objects.select_related("content_type"):
        key = (permission.content_type.app_label, permission.codename)
        carol.user_permissions.set([permission])
        request.user = User.objects.get(pk=carol.pk)
        if key not in WORDS and not key[1].startswith("change_") and admin.site.get_app_list(request):
            opened.append(key)
    assert opened == []


def test_one_that_is_held_stays_and_can_be_taken_away(root: User) -> None:
    group = Group.objects.create(name="Old")
    group.permissions.set([of("view_logentry"), of("view_run")])
    client, page = as_(root), f"/admin/auth/group/{group.pk}/change/"
    assert "Can view log entry" in client.get(page).content.decode()
    form = {"name": "Old", "current": PASSWORD}
    assert client.post(page, form | {"permissions": [of("view_logentry").pk]}).status_code == 302
    assert list(group.permissions.all()) == [of("view_logentry")]
    assert client.post(page, form).status_code == 302
    refused = client.post(page, form | {"permissions": [of("view_logentry").pk]})
    assert refused.status_code == 200
    assert not group.permissions.exists()


def test_the_history_has_them_in_words(root: User) -> None:
    group = Group.objects.create(name="Crew")
    client, page = as_(root), f"/admin/auth/group/{group.pk}/"
    form = {"name": "Crew", "permissions": [of("view_conversation").pk], "current": PASSWORD}
    assert client.post(f"{page}change/", form).status_code == 302
    assert "(– → review chats)" in LogEntry.objects.get().get_change_message()
    history = unescape(client.get(f"{page}history/").content.decode())
    assert "(– → review chats)" in history
    assert '">Crew</a>' in history
