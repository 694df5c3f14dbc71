"""Listing tool servers in the administration, and deciding about their tools."""

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.test import Client

from chat.conversations.tools.mcp import reading, servers
from chat.db.executor import run_in_db
from chat.models import CatalogState, McpServer, McpTool, User
from tests.mcp.hosts import Host, allow_all, listed
from tests.support.clients import as_
from tests.support.people import PASSWORD

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
LIST = "/admin/chat/mcpserver/"
NO_TOOLS = {"tools-TOTAL_FORMS": "0", "tools-INITIAL_FORMS": "0"}


@pytest.fixture
def root() -> Client:
    return as_(User.objects.create_superuser("root", password=PASSWORD))


def fields(host: Host, **given: Any) -> dict[str, Any]:
    usual = {"name": "time", "label": "Time", "url": host.url, "headers": "", "enabled": "on"}
    return {**usual, "current": PASSWORD, **NO_TOOLS, **given}


def page_of(row: McpServer) -> str:
    return f"{LIST}{row.pk}/change/"


def form_of(client: Client, row: McpServer) -> dict[str, str]:
    """The fields of the row's page as it shows them."""
    response = client.get(page_of(row))
    formset = response.context["inline_admin_formsets"][0].formset
    found = {f"tools-{name}": value for name, value in formset.management_form.initial.items()}
    for form in formset.forms:
        values = {name: form[name].value() for name in ("id", "server", "allowed", "asks_first", "seen")}
        found |= {f"{form.prefix}-{name}": "on" if v is True else v for name, v in values.items() if v}
    return found


def errors(response: Any) -> str:
    return " ".join(re.findall(r"errorlist[^>]*>(.*?)</ul>", response.content.decode(), re.DOTALL))


def test_a_server_is_listed_and_its_tools_are_read(root: Client, times: Host) -> None:
    before = CatalogState.objects.status().version
    response = root.post(f"{LIST}add/", fields(times), follow=True)
    assert "Time has 2 tools." in response.content.decode()
    row = McpServer.objects.get()
    assert response.redirect_chain == [(page_of(row), 302)]  # to allow them
    assert [tool.name for tool in row.tools.all()] == ["convert_time", "get_current_time"]
    assert not any(tool.is_allowed for tool in row.tools.all())
    assert servers._servers["time"].tools == ()
    assert CatalogState.objects.status().version > before
    assert "0 of 2 allowed" in root.get(LIST).content.decode()


def test_the_password_is_the_last_field(root: Client, times: Host) -> None:
    new = root.get(f"{LIST}add/").content.decode()
    assert "Last read" not in new
    assert new.count('name="current"') == 1
    root.post(f"{LIST}add/", fields(times))
    page = root.get(page_of(McpServer.objects.get())).content.decode()
    assert page.count('name="current"') == 1
    assert page.index('aria-label="get_current_time asks first"') < page.index('name="current"')


def test_what_is_allowed_is_what_the_page_showed(root: Client, times: Host) -> None:
    root.post(f"{LIST}add/", fields(times))
    row = McpServer.objects.get()
    page = root.get(page_of(row)).content.decode()
    assert "Get current time in a specific timezone" in page
    assert "Only reads, says the server." in page
    assert 'aria-label="Allow get_current_time"' in page
    shown = form_of(root, row)
    sent = fields(times) | shown | {"tools-1-allowed": "on"}
    McpTool.objects.filter(name="get_current_time").update(description="Now something else.")
    again = root.post(page_of(row), sent)
    assert "The server has changed this tool since." in errors(again)
    assert not McpTool.objects.filter(accepted__isnull=False).exists()
    sent = fields(times) | form_of(root, row) | {"tools-1-allowed": "on", "tools-0-asks_first": "on"}
    root.post(page_of(row), sent)
    assert [tool.name for tool in servers._servers["time"].tools] == ["get_current_time"]
    assert McpTool.objects.get(name="convert_time").asks_first
    entry = LogEntry.objects.filter(change_message__contains="get_current_time").get()
    assert entry.change_message == "convert_time: asks first; get_current_time: allowed, runs unasked"
    unchecked = {name: value for name, value in form_of(root, row).items() if not name.endswith("-allowed")}
    root.post(page_of(row), fields(times) | unchecked)
    assert servers._servers["time"].tools == ()


def test_a_changed_tool_is_shown_with_what_it_was(root: Client, times: Host) -> None:
    root.post(f"{LIST}add/", fields(times))
    row = McpServer.objects.get()
    allow_all(row)
    McpTool.objects.filter(name="convert_time").update(description="<script>alert(1)</script>")
    page = root.get(page_of(row)).content.decode()
    assert "Changed since you allowed it: not offered until you allow it again." in page
    assert "Before: Convert time between timezones" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert(1)" not in page
    assert "1 of 2 allowed, 1 to allow again" in root.get(LIST).content.decode()
    overview = root.get("/admin/").content.decode()
    assert "1 tool has changed: allow it again." in overview
    assert f'<a href="{LIST}">Tools</a>' in overview
    root.post(page_of(row), fields(times) | form_of(root, row))  # nothing ticked: it waits still
    assert McpTool.objects.get(name="convert_time").has_changed
    root.post(page_of(row), fields(times) | form_of(root, row) | {"tools-0-allowed": "on"})
    assert McpTool.objects.get(name="convert_time").is_allowed


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"url": "ftp://a.example/mcp"}, "Write an address that begins with https://"),
        ({"url": "https://"}, "Write an address"),
        ({"url": "https://me:pass@a.example/mcp"}, "without a password"),
        ({"url": "https://a.example/m cp"}, "Write an address"),
        ({"url": "https://a.example:99999/"}, "Write an address"),
        ({"url": "http://a.example/mcp", "headers": "X-Key: $MCP_KEY"}, "Headers are sent by https://"),
        ({"headers": "X-Key: typed"}, "“X-Key: typed” is not a header with its value from the environment."),
        ({"headers": "X-Key: $SECRET_KEY"}, "is not a header"),
        ({"headers": "X-Key: $MCP_OTHER"}, "MCP_OTHER is not set in the environment of this site."),
        ({"name": "Two words"}, "Write small letters"),
        ({"name": "a__b"}, "Write small letters"),
        ({"name": "9a"}, "Write small letters"),
        ({"name": "a-"}, "Write small letters"),
        ({"name": "there"}, "already exists"),
        ({"current": "a wrong guess"}, "That isn’t your current password."),
    ],
)
def test_what_is_no_server_is_refused(
    root: Client, times: Host, settings: Any, wrong: dict[str, str], words: str
) -> None:
    settings.MCP_SECRETS = {"MCP_KEY": "a-secret"}
    listed(times, "there")
    assert words in errors(root.post(f"{LIST}add/", fields(times, **wrong))).replace("&#x27;", "'")
    assert McpServer.objects.count() == 1
    assert times.seen == []


def test_the_short_name_stays(root: Client, times: Host) -> None:
    row = listed(times)
    root.post(page_of(row), fields(times, name="other", label="Clock"))
    row.refresh_from_db()
    assert (row.name, row.label) == ("time", "Clock")


def test_reading_now_says_what_was_found(root: Client, times: Host) -> None:
    row, away = (
        listed(times),
        McpServer.objects.create(name="away", label="Away", url="http://127.0.0.1:1/mcp"),
    )
    sent = {"action": "read_now", "_selected_action": [row.pk, away.pk]}
    page = root.post(LIST, sent, follow=True).content.decode()
    assert "Time has 2 tools." in page
    assert "Away: The server could not be reached, or it does not speak MCP." in page


def test_a_server_deleted_while_it_is_read_is_no_error(
    root: Client, monkeypatch: pytest.MonkeyPatch, times: Host
) -> None:
    async def read(key: int) -> None:
        await run_in_db(McpServer.objects.filter(pk=key).delete)

    monkeypatch.setattr(reading, "read", read)
    row = listed(times)
    page = root.post(LIST, {"action": "read_now", "_selected_action": [row.pk]}, follow=True)
    assert page.status_code == 200


def test_staff_need_the_right(times: Host) -> None:
    row = listed(times)
    staff = User.objects.create_user("staff", password=PASSWORD, is_staff=True)
    assert as_(staff).get(LIST).status_code == 403
    staff.user_permissions.set(Permission.objects.filter(codename="view_mcpserver"))
    client = as_(User.objects.get(pk=staff.pk))
    page = client.get(page_of(row)).content.decode()
    assert 'name="url"' not in page
    assert client.post(page_of(row), fields(times)).status_code == 403
    assert client.post(f"{LIST}add/", fields(times)).status_code == 403
    assert client.post(f"{page_of(row).removesuffix('change/')}delete/", {"post": "yes"}).status_code == 403
    staff.user_permissions.set(Permission.objects.filter(codename="change_mcpserver"))
    client = as_(User.objects.get(pk=staff.pk))
    client.post(page_of(row), fields(times, label="Clock"))
    assert McpServer.objects.get().label == "Clock"
    client.post(f"{page_of(row).removesuffix('change/')}delete/", {"post": "yes", "current": PASSWORD})
    assert not McpServer.objects.exists()
    assert servers._servers == {}


def test_who_may_only_look_is_told_what_is_allowed(root: Client, times: Host) -> None:
    root.post(f"{LIST}add/", fields(times))
    row = McpServer.objects.get()
    chosen = row.tools.get(name="convert_time")
    McpTool.objects.filter(pk=chosen.pk).update(accepted=chosen.declared)
    staff = User.objects.create_user("staff", password=PASSWORD, is_staff=True)
    staff.user_permissions.set(Permission.objects.filter(codename="view_mcpserver"))
    page = as_(staff).get(page_of(row)).content.decode()
    table = page[page.index("<h2>Tools</h2>") :].partition("</fieldset>")[0]
    assert (table.count("<th "), table.count("<td>")) == (3, 6)
    assert re.findall(r'alt="(\w+)"', table) == ["True", "False", "False", "False"]
    assert "None" not in table
    assert "Current" not in page


def test_a_group_of_a_server_is_not_deleted_by_accident(root: Client, times: Host) -> None:
    group = Group.objects.create(name="few")
    row = listed(times)
    root.post(page_of(row), fields(times, groups=str(group.pk)))
    assert servers._servers["time"].groups == {group.pk}
    assert root.post(f"/admin/auth/group/{group.pk}/delete/", {"post": "yes"}).status_code == 403
