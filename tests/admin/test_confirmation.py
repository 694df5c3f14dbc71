"""Acts that an administrator's stolen session cannot do: they take the administrator's own password."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client

from chat.models import ApiKey, User
from tests.admin.people import ORDER_LINK, SET_PASSWORD, address, as_
from tests.support.people import PASSWORD
from tests.views.accounts import NEW_PASSWORD

pytestmark = [pytest.mark.django_db, pytest.mark.database]
WRONG, LOCKED = "That isn’t your current password.", "Too many failed attempts. Try again in 15 minutes."
Post = Callable[[Client, dict[str, Any]], Any]


@pytest.fixture
def other(db: None) -> User:
    """Another administrator."""
    return User.objects.create_superuser("other", password=PASSWORD)


@pytest.fixture
def group(db: None) -> Group:
    return Group.objects.create(name="others")


@pytest.fixture
def key(other: User) -> ApiKey:
    key = ApiKey(user=other, name="a program")
    key.generate_secret()
    key.save()
    return key


def saving(**fields: Any) -> Post:
    """Save the form of `other` as it stands, but for `fields`; None leaves a box unticked."""

    def post(client: Client, confirmation: dict[str, Any]) -> Any:
        user = User.objects.get(username="other")
        form = {name: "on" for name in User.ADMINISTRATOR if getattr(user, name)}
        form |= {"username": user.username, **fields, **confirmation}
        return client.post(address(user), {name: value for name, value in form.items() if value is not None})

    return post


def joining_a_group(client: Client, confirmation: dict[str, Any]) -> Any:
    return saving(groups=str(Group.objects.get(name="others").pk))(client, confirmation)


def setting_a_password(client: Client, confirmation: dict[str, Any]) -> Any:
    form = {name: value for name, value in SET_PASSWORD.items() if name != "current"}
    return client.post(address(User.objects.get(username="other"), "password"), form | confirmation)


def ordering_a_link(client: Client, confirmation: dict[str, Any]) -> Any:
    return client.post(address(User.objects.get(username="other"), "link"), confirmation)


def changing_a_group(client: Client, confirmation: dict[str, Any]) -> Any:
    form = {"name": "others", "permissions": [Permission.objects.get(codename="view_run").pk]}
    address = f"/admin/auth/group/{Group.objects.get(name='others').pk}/change/"
    return client.post(address, form | confirmation)


def adding_a_group(client: Client, confirmation: dict[str, Any]) -> Any:
    form = {"name": "more", "permissions": [Permission.objects.get(codename="view_run").pk]}
    return client.post("/admin/auth/group/add/", form | confirmation)


def letting_a_key_set_the_gateway(client: Client, confirmation: dict[str, Any]) -> Any:
    form = {"action": "allow_gateway", "_selected_action": str(ApiKey.objects.get().pk), "confirmed": "1"}
    return client.post("/admin/chat/apikey/", form | confirmation)


DEEDS: dict[str, Post] = {
    "role": saving(role="reviewer"),
    "administration": saving(is_staff=None),
    "sign in": saving(is_active=None),
    "email": saving(email="new@example.org"),
    "group": joining_a_group,
    "password": setting_a_password,
    "link": ordering_a_link,
    "permissions of a group": changing_a_group,
    "new group": adding_a_group,
    "gateway": letting_a_key_set_the_gateway,
}


def state() -> list[Any]:
    """Return all that the deeds change."""
    return [
        *User.objects.order_by("pk").values_list("password", "email", "groups", *User.ADMINISTRATOR),
        *Group.objects.order_by("pk").values_list("name", "permissions"),
        *ApiKey.objects.values_list("may_set_gateway"),
    ]


@pytest.mark.parametrize("deed", DEEDS.values(), ids=DEEDS)
def test_only_with_ones_own_password(deed: Post, root: User, other: User, group: Group, key: ApiKey) -> None:
    client = as_(root)
    before = state()
    for confirmation in ({}, {"current": ""}, {"current": "a wrong guess"}):
        page = deed(client, confirmation)
        assert page.status_code == 200
        assert (WRONG in page.content.decode()) == bool(confirmation.get("current"))
        assert state() == before
    deed(client, {"current": PASSWORD})
    assert state() != before


@pytest.mark.parametrize("deed", DEEDS.values(), ids=DEEDS)
def test_a_stolen_session_has_ten_guesses(
    deed: Post, root: User, other: User, group: Group, key: ApiKey
) -> None:
    client = as_(root)
    pages = [deed(client, {"current": "a wrong guess"}).content.decode() for _ in range(11)]
    assert [WRONG in page for page in pages] == [True] * 9 + [False] * 2
    before = state()
    assert LOCKED in deed(client, {"current": PASSWORD}).content.decode()
    assert state() == before


def test_a_wrong_form_counts_no_failure(root: User, other: User) -> None:
    client = as_(root)
    for _ in range(11):
        client.post(address(other, "password"), SET_PASSWORD | {"password2": "x", "current": "a wrong guess"})
    assert client.post(address(other, "link"), ORDER_LINK).status_code == 200
    other.refresh_from_db()
    assert not other.has_usable_password()


def test_the_confirmation_is_not_the_new_password(root: User, other: User) -> None:
    sent = SET_PASSWORD | {"current": NEW_PASSWORD}
    assert WRONG in as_(root).post(address(other, "password"), sent).content.decode()
    other.refresh_from_db()
    assert other.check_password(PASSWORD)
