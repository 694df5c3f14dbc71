"""The three roles: their rights, and the people who may give them; other sets of rights stay as they are."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client

from chat.models import User
from chat.models.user import REVIEWERS, Role, role_expression
from tests.admin.people import address
from tests.support.clients import as_
from tests.support.people import PASSWORD

pytestmark = [pytest.mark.django_db, pytest.mark.database]
REVIEW = "view_conversation"


def role_of(user: User) -> str:
    return str(User.objects.annotate(role=role_expression()).get(pk=user.pk).role)


def saved(client: Client, user: User, **fields: Any) -> Any:
    """Post the form as the page shows it, but for `fields`."""
    page = client.get(address(user))
    form = page.context["adminform"].form
    shown = {name: form.initial.get(name) for name in form.fields}
    data = {name: [each.pk for each in value] if isinstance(value, list) else value
            for name, value in shown.items() if value not in (None, False, [])}  # fmt: skip
    data |= {"current": PASSWORD, **fields}
    return client.post(address(user), {name: value for name, value in data.items() if value})


@pytest.fixture(autouse=True)
def _reviewers(db: None) -> None:
    """The group as the migration creates it; a test of another file may have emptied the tables."""
    group, _ = Group.objects.get_or_create(name=REVIEWERS)
    group.permissions.set(Permission.objects.filter(codename=REVIEW))


def permissions(user: User) -> set[str]:
    """Return the permissions of a newly loaded user, because permissions are cached."""
    return {name.partition(".")[2] for name in User.objects.get(pk=user.pk).get_all_permissions()}


@pytest.mark.parametrize(
    ("flags", "own", "groups", "role"),
    [
        ({}, [], [], Role.PERSON),
        ({}, ["view_run"], [REVIEWERS], Role.PERSON),
        ({"is_staff": True}, [], [REVIEWERS], Role.REVIEWER),
        ({"is_staff": True}, [REVIEW], [], Role.REVIEWER),
        ({"is_staff": True}, [], [REVIEWERS, "models"], Role.REVIEWER),
        ({"is_staff": True}, [], [], Role.CUSTOM),
        ({"is_staff": True}, ["view_run"], [REVIEWERS], Role.CUSTOM),
        ({"is_superuser": True}, [], [], Role.CUSTOM),
        ({"is_staff": True, "is_superuser": True}, ["view_run"], [], Role.ADMINISTRATOR),
    ],
)
def test_a_role_is_what_a_person_may_do(
    flags: dict[str, bool], own: list[str], groups: list[str], role: Role, root: User
) -> None:
    Group.objects.create(name="models")
    user = User.objects.create_user("ada", **flags)
    user.user_permissions.set(Permission.objects.filter(codename__in=own))
    user.groups.set(Group.objects.filter(name__in=groups))
    assert role_of(user) == role
    found = {each: [user.username for user in listed(root, f"role={each}")] for each in Role.values}
    assert [each for each, names in found.items() if "ada" in names] == [role]
    assert as_(root).get(address(user)).context["adminform"].form.initial["role"] == role


def listed(root: User, query: str) -> list[User]:
    return list(as_(root).get(f"/admin/chat/user/?{query}").context["cl"].result_list)


@pytest.mark.parametrize("before", Role.values)
@pytest.mark.parametrize("after", [Role.PERSON, Role.REVIEWER, Role.ADMINISTRATOR])
def test_one_choice_gives_a_role(before: str, after: Role, root: User, alice: User) -> None:
    be(alice, before)
    keeps = Group.objects.create(name="models")
    alice.groups.add(keeps)
    assert saved(as_(root), alice, role=after).status_code == 302
    assert role_of(alice) == after
    if after == Role.REVIEWER:
        assert permissions(alice) == {REVIEW}
    if after == Role.PERSON:
        assert permissions(alice) == set()
    assert keeps in alice.groups.all()


def be(user: User, role: str) -> None:
    user.is_staff, user.is_superuser = role != Role.PERSON, role == Role.ADMINISTRATOR
    user.save()
    if role == Role.REVIEWER:
        user.groups.add(Group.objects.get(name=REVIEWERS))
    if role == Role.CUSTOM:
        user.user_permissions.set(Permission.objects.filter(codename__in=["view_run", "view_user"]))


def test_custom_rights_stay_when_another_field_is_saved(root: User, carol: User) -> None:
    before = permissions(carol)
    page = as_(root).get(address(carol)).content.decode()
    assert 'value="custom"' in page
    assert saved(as_(root), carol, email="new@example.org").status_code == 302
    carol.refresh_from_db()
    assert (carol.email, carol.is_staff, permissions(carol)) == ("new@example.org", True, before)


def test_custom_cannot_be_chosen(root: User, alice: User) -> None:
    assert 'value="custom"' not in as_(root).get(address(alice)).content.decode()
    page = saved(as_(root), alice, role=Role.CUSTOM)
    assert page.context["adminform"].form.errors.keys() == {"role"}


def test_permissions_in_detail_make_a_custom_role(root: User, alice: User) -> None:
    run = Permission.objects.get(codename="view_run")
    assert saved(as_(root), alice, is_staff="on", user_permissions=[run.pk]).status_code == 302
    assert (role_of(alice), permissions(alice)) == (Role.CUSTOM, {"view_run"})


@pytest.mark.parametrize("role", [Role.PERSON, Role.REVIEWER])
def test_the_last_administrator_keeps_the_role(role: Role, root: User) -> None:
    page = saved(as_(root), root, role=role)
    assert page.context["adminform"].form.errors.keys() == {"role"}
    assert role_of(root) == Role.ADMINISTRATOR


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.ADMINISTRATOR])
def test_only_an_administrator_gives_a_role(role: Role, carol: User, alice: User) -> None:
    client = as_(carol)
    form = {"username": "alice", "role": role, "current": PASSWORD}
    assert client.post(address(alice), form).status_code == 302
    assert role_of(alice) == Role.PERSON
    assert client.post(address(carol), {"username": "carol", "role": role}).status_code == 403
    assert role_of(carol) == Role.CUSTOM


@pytest.mark.parametrize("how", ["deleted", "extended"])
def test_a_reviewer_never_gets_more_than_the_role(how: str, root: User, alice: User) -> None:
    """Assign the role after its group was deleted or extended."""
    group = Group.objects.get(name=REVIEWERS)
    if how == "deleted":
        group.delete()
    else:
        group.permissions.add(Permission.objects.get(codename="delete_user"))
    assert saved(as_(root), alice, role=Role.REVIEWER).status_code == 302
    assert (role_of(alice), permissions(alice)) == (Role.REVIEWER, {REVIEW})


def test_the_list_names_roles_and_disabled_people(root: User, alice: User, carol: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_active=False)
    page = as_(root).get("/admin/chat/user/").content.decode()
    for text in ("Administrator", "Custom", "Person", "Disabled"):
        assert f">{text}</td>" in page
    assert "icon-no" not in page
    assert [user.username for user in listed(root, "status=disabled")] == ["alice"]
