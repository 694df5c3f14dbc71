"""Acts that an administrator's stolen session cannot do: they take the administrator's own password."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import AsyncMock

import pytest
from asgiref.sync import sync_to_async
from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.test import Client, RequestFactory

from chat.admin import connect
from chat.catalog import account
from chat.health.connection import Checked
from chat.models import ApiKey, McpServer, Site, User
from chat.views.accounts.login import CONFIRM_POOL
from chatsite import urls
from tests.admin.people import ORDER_LINK, SET_PASSWORD, address
from tests.support.clients import as_
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


@pytest.fixture(autouse=True)
def cloudflare(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    """An account is connected, and another one would pass the check. The database is that of the test."""

    async def turn(_person: Any, check: Callable[..., Any], *args: Any) -> Any:
        return await sync_to_async(check)(*args)

    monkeypatch.setattr(connect, "run_in_db", lambda call, *args, **more: sync_to_async(call)(*args, **more))
    monkeypatch.setattr(CONFIRM_POOL, "run", turn)
    monkeypatch.setattr(connect, "check_account", AsyncMock(return_value=Checked()))
    monkeypatch.setattr(connect, "get_engine", AsyncMock())
    monkeypatch.setattr(account, "_connected", account.connected())  # no other test has it
    account.store_account("old", "token-of-before", None)
    McpServer.objects.create(name="notes", label="Notes", url="https://notes.example/mcp", enabled=False)


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


def connecting(client: Client, confirmation: dict[str, Any]) -> Any:
    return client.post("/admin/connect/", {"account": "new", "token": "token-of-another"} | confirmation)


def listing_a_tool_server(client: Client, confirmation: dict[str, Any]) -> Any:
    form = {"name": "wiki", "label": "Wiki", "url": "https://wiki.example/mcp", "tools-TOTAL_FORMS": "0"}
    return client.post("/admin/chat/mcpserver/add/", form | {"tools-INITIAL_FORMS": "0"} | confirmation)


def deleting_a_tool_server(client: Client, confirmation: dict[str, Any]) -> Any:
    row = McpServer.objects.get(name="notes")
    return client.post(f"/admin/chat/mcpserver/{row.pk}/delete/", {"post": "yes"} | confirmation)


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
    "Cloudflare account": connecting,
    "no account": lambda client, more: client.post("/admin/connect/", {"what": "disconnect"} | more),
    "tool server": listing_a_tool_server,
    "no tool server": deleting_a_tool_server,
}

# All that can be done in the administration: a new deed has to be judged.
ASKING = {
    "change user", "auth_user_password_change", "chat_user_link", "add group", "change group",
    "allow_gateway apikey", "connect", "add mcpserver", "change mcpserver", "delete mcpserver",
}  # fmt: skip
WITHOUT_ASKING = {
    "add user", "add invite",  # they have no rights
    "delete invite", "delete group", "revoke apikey", "forbid_gateway apikey", "revoke sharedlink",
    "withdraw assistant",
    # take something away, and reveal nothing
    "read_now mcpserver",  # what is new or other is not offered
    "change sitemodel", "show sitemodel", "hide sitemodel", "make_default sitemodel", "chat_sitemodel_doors",
    # choose among the models of the settings and of the connected account
    "site", "checkup", "chat_run_rates",  # a name and a picture; only look
}  # fmt: skip


def deeds(request: Any) -> Iterator[str]:
    """Yield what an administrator can do: to rows, by actions, on pages of the administration's own."""
    for model, each in admin.site._registry.items():
        name = model._meta.model_name
        rights = ("add", "change", "delete") if getattr(each, "has_pages", True) else ()
        given = [right for right in rights if getattr(each, f"has_{right}_permission")(request)]
        yield from (f"{deed} {name}" for deed in (*given, *each.get_actions(request)))
        usual = re.compile(rf"\w+_{name}_(changelist|add|history|delete|change)")
        yield from (url.name for url in each.get_urls() if url.name and not usual.fullmatch(url.name))
    own = [url for url in urls.urlpatterns if str(url.pattern).startswith("admin/")]
    yield from (name for url in own if (name := getattr(url, "name", None)))


def test_each_deed_is_judged(root: User, rf: RequestFactory) -> None:
    request = rf.get("/")
    request.user = root
    assert set(deeds(request)) == ASKING | WITHOUT_ASKING


def state() -> list[Any]:
    """Return all that the deeds change."""
    return [
        *User.objects.order_by("pk").values_list("password", "email", "groups", *User.ADMINISTRATOR),
        *Group.objects.order_by("pk").values_list("name", "permissions"),
        *ApiKey.objects.values_list("may_set_gateway"),
        *Site.objects.values_list("cloudflare_account", "cloudflare_token"),
        *McpServer.objects.values_list("url"),
    ]


@pytest.mark.parametrize("deed", DEEDS.values(), ids=DEEDS)
def test_only_with_ones_own_password(deed: Post, root: User, other: User, group: Group, key: ApiKey) -> None:
    client = as_(root)
    before = state()
    for confirmation in ({}, {"current": ""}, {"current": "a wrong guess"}):
        page = deed(client, confirmation)
        assert page.status_code in (200, 400)
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


@pytest.mark.parametrize("action", ["allow_gateway", "forbid_gateway"])
@pytest.mark.parametrize("superuser", [True, False])
def test_only_an_administrator_lets_a_key_set_the_gateway(action: str, superuser: bool) -> None:
    dora = User.objects.create_user("dora", password=PASSWORD, is_staff=True, is_superuser=superuser)
    dora.user_permissions.add(*Permission.objects.filter(codename__in=["view_apikey", "change_apikey"]))
    before = action == "forbid_gateway"
    key = ApiKey(user=dora, name="a program", may_set_gateway=before)
    key.generate_secret()
    key.save()
    sent: dict[str, Any] = {"action": action, "_selected_action": str(key.pk), "confirmed": "1"}
    as_(dora).post("/admin/chat/apikey/", sent | ORDER_LINK)
    key.refresh_from_db()
    assert (key.may_set_gateway is not before) is superuser
