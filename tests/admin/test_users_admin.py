"""Rights to change users in the admin, and the effects of each change."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client

from chat.models import SiteModel, User
from tests.admin.people import ORDER_LINK, SET_PASSWORD, address
from tests.support.clients import as_
from tests.support.concurrency import at_once
from tests.support.people import PASSWORD
from tests.views.accounts import NEW_PASSWORD, log_in

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def change(client: Client, user: User, **fields: Any) -> Any:
    """Save the form as it stands, but for `fields`; None leaves a box unticked."""
    user = User.objects.get(pk=user.pk)
    form = {name: "on" for name in User.ADMINISTRATOR if getattr(user, name)}
    form |= {"username": user.username, "email": user.email, "current": PASSWORD, **fields}
    return client.post(address(user), {name: value for name, value in form.items() if value is not None})


def test_disabling_a_user_ends_session_and_login_silently(root: User, alice: User) -> None:
    hers = as_(alice)
    wrong = log_in(Client(), "alice", "wrong").content
    assert change(as_(root), alice, is_active=None).status_code == 302
    assert hers.get("/accounts/password/").status_code == 302
    page = log_in(Client(), "alice", PASSWORD).content
    assert b"Incorrect name or password." in page
    assert re.sub(rb'value="[^"]*"', b"", page) == re.sub(rb'value="[^"]*"', b"", wrong)
    assert change(as_(root), alice, is_active="on").status_code == 302
    assert log_in(Client(), "alice", PASSWORD).status_code == 302


def test_an_address_belongs_to_one_person(root: User, alice: User) -> None:
    page = change(as_(root), root, email="ALICE@Example.org")
    assert page.context["adminform"].form.errors == {
        "email": ["Another account already uses this email address."]
    }
    assert change(as_(root), alice, email="Alice@example.org").status_code == 302


@pytest.mark.parametrize("lost", User.ADMINISTRATOR)
def test_the_last_administrator_stays_one(lost: str, root: User, alice: User, carol: User) -> None:
    page = change(as_(root), root, **{lost: None})
    assert page.status_code == 200
    assert page.context["adminform"].form.errors.keys() == {lost}
    assert "This is the last administrator" in page.content.decode()
    root.refresh_from_db()
    assert [getattr(root, name) for name in User.ADMINISTRATOR] == [True, True, True]


@pytest.mark.parametrize("unable", User.ADMINISTRATOR)
def test_one_who_cannot_administer_does_not_count(unable: str, root: User) -> None:
    other = User.objects.create_superuser("other")
    User.objects.filter(pk=other.pk).update(**{unable: False})
    assert change(as_(root), root, is_active=None).status_code == 200
    User.objects.filter(pk=other.pk).update(**{unable: True})
    assert change(as_(root), root, is_active=None).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_two_who_disable_each_other_at_once_leave_one(root: User) -> None:
    other = User.objects.create_superuser("other")
    both = [(as_(root), other), (as_(other), root)]
    at_once(2, lambda: change(*both.pop(), is_active=None).status_code)
    assert User.objects.filter(is_active=True).count() == 1


class TestStaffWithoutAllRights:
    def test_they_look_after_people(self, carol: User, alice: User) -> None:
        assert change(as_(carol), alice, email="new@example.org", is_active=None).status_code == 302
        alice.refresh_from_db()
        assert (alice.email, alice.is_active) == ("new@example.org", False)

    def test_they_give_nobody_rights(self, carol: User, alice: User) -> None:
        group = Group.objects.create(name="others")
        permission = str(Permission.objects.get(codename="view_run").pk)
        more = {
            "is_staff": "on",
            "is_superuser": "on",
            "groups": str(group.pk),
            "user_permissions": permission,
        }
        assert change(as_(carol), alice, **more).status_code == 302
        alice.refresh_from_db()
        assert (alice.is_staff, alice.is_superuser) == (False, False)
        assert (alice.groups.count(), alice.user_permissions.count()) == (0, 0)

    def test_they_make_people_without_rights(self, carol: User) -> None:
        form = {
            "username": "new",
            "password1": NEW_PASSWORD,
            "password2": NEW_PASSWORD,
            "is_staff": "on",
            "is_superuser": "on",
        }
        assert "invit" not in as_(carol).get("/admin/chat/user/add/").content.decode()  # without that right
        assert as_(carol).post("/admin/chat/user/add/", form).status_code == 302
        new = User.objects.get(username="new")
        assert (new.is_staff, new.is_superuser, new.check_password(NEW_PASSWORD)) == (False, False, True)

    @pytest.mark.parametrize("whose", ["root", "erin", "carol"])
    def test_people_with_rights_are_out_of_their_reach(self, whose: str, root: User, carol: User) -> None:
        User.objects.create_user("erin", is_staff=True)
        user = User.objects.get(username=whose)
        before = User.objects.filter(pk=user.pk).values().get()
        client = as_(carol)
        before["last_login"] = User.objects.get(pk=user.pk).last_login
        assert change(client, user, email="taken@over.example").status_code == 403
        assert client.post(address(user, "link"), ORDER_LINK).status_code in (302, 403)
        assert client.post(address(user, "password"), SET_PASSWORD).status_code in (302, 403)
        assert User.objects.filter(pk=user.pk).values().get() == before

    def test_groups_are_out_of_their_reach_too(self, carol: User) -> None:
        group = Group.objects.create(name="others")
        carol.groups.add(group)
        form = {"name": "others", "permissions": str(Permission.objects.get(codename="view_run").pk)}
        assert as_(carol).post(f"/admin/auth/group/{group.pk}/change/", form).status_code == 403
        assert as_(carol).post("/admin/auth/group/add/", form | {"name": "more"}).status_code == 403
        assert group.permissions.count() == 0

    def test_without_the_right_there_is_nothing(self, alice: User) -> None:
        erin = User.objects.create_user("erin", is_staff=True)
        client = as_(erin)
        for page in ("change", "link", "password"):
            assert client.get(address(alice, page)).status_code == 403
        assert client.get("/admin/chat/user/").status_code == 403


def test_a_superuser_gives_rights(root: User, alice: User) -> None:
    group = Group.objects.create(name="others")
    assert change(as_(root), alice, is_staff="on", groups=str(group.pk)).status_code == 302
    alice.refresh_from_db()
    assert (alice.is_staff, alice.groups.get()) == (True, group)


@pytest.mark.parametrize("given", ["permissions", "models"])
def test_a_group_that_gives_something_is_not_deleted(given: str, root: User) -> None:
    """A model whose only group was deleted would be everybody's."""
    group = Group.objects.create(name="others")
    model = SiteModel.objects.create(pk="@cf/some/model")
    if given == "models":
        model.groups.add(group)
    else:
        group.permissions.add(Permission.objects.all()[0])
    client, groups = as_(root), "/admin/auth/group/"
    form = {"action": "delete_selected", "_selected_action": str(group.pk), "post": "yes"}
    assert client.post(f"{groups}{group.pk}/delete/", {"post": "yes"}).status_code == 403
    assert client.post(groups, form).status_code in (200, 403)
    group.refresh_from_db()
    group.permissions.clear()
    model.groups.clear()
    assert client.post(f"{groups}{group.pk}/delete/", {"post": "yes"}).status_code == 302
    assert not Group.objects.filter(pk=group.pk).exists()


def test_the_log_of_changes_has_the_values(root: User, alice: User) -> None:
    client, group = as_(root), str(Group.objects.create(name="few").pk)
    change(client, alice, email="new@example.org")
    change(client, alice, is_active=None, groups=group)
    assert client.post(address(alice, "password"), SET_PASSWORD).status_code == 302
    page = client.get(address(alice, "history")).content.decode()
    assert "email (alice@example.org → new@example.org)" in page
    assert "is_active (True → False)" in page
    assert "groups (– → few)" in page
    assert "and current" not in page  # the administrator's own password, which confirmed it
    assert "Changed password." in page
    assert NEW_PASSWORD not in page
    assert PASSWORD not in page


def test_the_chats_own_group_is_named_in_ones_language(root: User) -> None:
    Group.objects.get_or_create(name="Reviewers")
    page = as_(root).get("/admin/chat/user/", HTTP_ACCEPT_LANGUAGE="fr").content.decode()
    assert "Reviewers" not in page
    assert ">Relecteurs</a>" in page
    assert "<summary> Groupes </summary>" in page
    assert "Ajouter\u202f: personne" in page


def test_nobody_is_deleted(root: User, alice: User) -> None:
    client = as_(root)
    assert client.post(address(alice, "delete"), {"post": "yes"}).status_code == 403
    form = {"action": "delete_selected", "_selected_action": str(alice.pk), "post": "yes"}
    client.post("/admin/chat/user/", form)
    assert User.objects.filter(pk=alice.pk).exists()


def test_no_hash_is_shown(root: User, alice: User) -> None:
    client = as_(root)
    pages = [client.get(url).content.decode() for url in ("/admin/chat/user/", address(alice))]
    assert all("alice" in page for page in pages)
    assert not any("argon2" in page or alice.password[-8:] in page for page in pages)


def test_a_group_tells_its_members(root: User, alice: User) -> None:
    group = Group.objects.create(name="few")
    alice.groups.add(group)
    client = as_(root)
    link = f'<a href="/admin/chat/user/?groups__id__exact={group.pk}">1</a>'
    assert link in client.get("/admin/auth/group/").content.decode()
    assert link in client.get(f"/admin/auth/group/{group.pk}/change/").content.decode()
    assert "members" not in client.get("/admin/auth/group/add/").content.decode()


def test_groups_are_not_among_the_permissions_in_detail(root: User, alice: User) -> None:
    page = as_(root).get(address(alice)).content.decode()
    assert page.index('id="id_groups"') < page.index("Permissions in detail")
