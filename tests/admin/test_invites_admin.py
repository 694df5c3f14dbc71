"""Making, seeing and taking back invitations."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from chat.models import Invite, User
from tests.support.clients import as_
from tests.support.invites import issue_invite

pytestmark = [pytest.mark.django_db, pytest.mark.database]
LIST = "/admin/chat/invite/"
LINK = re.compile(r'value="http://localhost:8000(/accounts/invite/[\w-]{43}/)"')


@pytest.fixture
def inviter() -> User:
    """Staff whose only right is to invite."""
    user = User.objects.create_user("inviter", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="add_invite"))
    return user


@pytest.mark.parametrize("who", ["root", "inviter"])
def test_the_link_is_shown_once_and_works(who: str, root: User, inviter: User) -> None:
    client = as_(User.objects.get(username=who))
    page = client.post(f"{LIST}add/", {"note": "Ada <b>Lovelace</b>"})
    link = LINK.search(page.content.decode())
    assert link
    assert "Ada &lt;b&gt;Lovelace&lt;/b&gt;" in page.content.decode()
    assert Client().get(link[1]).status_code == 200
    invite = Invite.objects.get()
    assert (invite.made_by.username, invite.note) == (who, "Ada <b>Lovelace</b>")
    token = link[1].split("/")[-2]
    assert token not in str(Invite.objects.values().get())
    for url in (LIST, f"{LIST}{invite.pk}/change/", f"{LIST}{invite.pk}/history/", "/admin/"):
        assert token not in client.get(url).content.decode()


def test_the_form_says_what_it_makes(root: User) -> None:
    page = as_(root).get(f"{LIST}add/").content.decode()
    assert "<h1>Invite someone</h1>" in page
    assert "You get a link to send. It works once, for 7 days." in page
    assert re.findall(r'type="submit".*?value="(.*?)"', page) == ["Create link"]
    assert '<label for="id_note">Name:</label>' in page


def test_a_link_that_nobody_else_can_open_says_so(root: User, settings: Any) -> None:
    hint = "This address opens on this computer only."
    assert hint in as_(root).post(f"{LIST}add/", {"note": ""}).content.decode()
    settings.SITE_URL = "https://chat.example.org"
    assert hint not in as_(root).post(f"{LIST}add/", {"note": ""}).content.decode()


def test_the_list_of_people_leads_to_an_invitation(root: User, inviter: User) -> None:
    assert f'href="{LIST}add/" class="addlink"' in as_(root).get("/admin/chat/user/").content.decode()
    inviter.user_permissions.add(*Permission.objects.filter(codename__in=("view_user", "add_user")))
    page = as_(User.objects.get(pk=inviter.pk)).get("/admin/chat/user/").content.decode()
    assert "/admin/chat/user/add/" not in page
    assert f"{LIST}add/" in page


def test_a_link_without_a_note_is_for_the_person_invited(root: User) -> None:
    page = as_(root).post(f"{LIST}add/", {"note": ""}).content.decode()
    assert "Send this link to the person you invite." in page
    assert "invitation 1" not in page


def test_the_list_says_what_became_of_each(root: User) -> None:
    issue_invite(root, "open")
    _, token = issue_invite(root, "used")
    Invite.objects.claim(token, User(username="ada"))
    expired, _ = issue_invite(root, "expired")
    Invite.objects.filter(pk=expired.pk).update(created=timezone.now() - timedelta(days=8))
    issue_invite(User.objects.create_superuser("gone", is_active=False), "disabled")
    page = as_(root).get(LIST).content.decode()
    states = re.findall(r'<td class="field-state">(.+?)</td>', page)
    texts = [re.sub(r"<.*?>|\d+ \w{3} \d{4}, [\d:]{5} UTC", "", state).strip() for state in states]
    assert sorted(texts) == ["Disabled", "Expired on", "Open, expires in 7 days", "Used by ada on"]


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(days=5, minutes=-1), "expires in 2 days"),
        (timedelta(days=5, minutes=1), "expires in 48 hours"),
        (timedelta(days=6, hours=23, minutes=30), "expires in 1 hour<"),
    ],
)
def test_the_time_left_is_said_in_days_then_hours(age: timedelta, text: str, root: User) -> None:
    invite, _ = issue_invite(root)
    Invite.objects.filter(pk=invite.pk).update(created=timezone.now() - age)
    assert text in as_(root).get(LIST).content.decode()


def test_the_page_of_the_link_says_when_it_expires(root: User) -> None:
    page = as_(root).post(f"{LIST}add/", {"note": ""}).content.decode()
    assert "It works once and expires in 7 days, on <time" in page


def test_taking_it_back_kills_the_link(inviter: User) -> None:
    invite, token = issue_invite(inviter)
    response = as_(inviter).post(f"{LIST}{invite.pk}/delete/", {"post": "yes"})
    assert (response.status_code, response["Location"]) == (302, LIST)
    assert Client().get(f"/accounts/invite/{token}/").status_code == 404


def test_a_used_one_stays(root: User) -> None:
    invite, token = issue_invite(root)
    Invite.objects.claim(token, User(username="ada"))
    assert as_(root).post(f"{LIST}{invite.pk}/delete/", {"post": "yes"}).status_code == 403
    form = {"action": "delete_selected", "_selected_action": str(invite.pk), "post": "yes"}
    as_(root).post(LIST, form)
    assert Invite.objects.filter(pk=invite.pk).exists()


def test_nothing_about_it_can_be_changed(root: User) -> None:
    invite, _ = issue_invite(root, "Ada")
    assert as_(root).post(f"{LIST}{invite.pk}/change/", {"note": "Eve"}).status_code == 403
    assert Invite.objects.get().note == "Ada"


def test_without_the_right_there_is_nothing(root: User) -> None:
    invite, _ = issue_invite(root)
    client = as_(User.objects.create_user("erin", is_staff=True))
    for url in (LIST, f"{LIST}add/", f"{LIST}{invite.pk}/change/", f"{LIST}{invite.pk}/delete/"):
        assert client.get(url).status_code == client.post(url, {"post": "yes"}).status_code == 403
    assert Invite.objects.count() == 1
