"""The bar: on every page of the administration, with what its reader may see, and the page shown marked."""

import re
from html import unescape

import pytest
from django.test import Client

from chat.admin.bar import bar
from chat.models import User
from tests.admin import seed
from tests.admin.conftest import LIST
from tests.support.clients import as_

pytestmark = [pytest.mark.django_db, pytest.mark.database]
BAR = re.compile(r'<nav id="bar" popover aria-label="Administration">(.*?)</nav>', re.DOTALL)
LINK = re.compile(r'<a href="([^"]*)"(?: aria-current="(\w+)")?>(.*?)</a>')
# Of the page of a person, and of their conversation: {person}, {conversation}.
PAGES = {
    "/admin/": ("Overview", "page"),
    "/admin/chat/user/": ("People", "page"),
    "/admin/chat/user/add/": ("People", "true"),
    "/admin/chat/user/{person}/change/": ("People", "true"),
    "/admin/chat/user/{person}/history/": ("People", "true"),
    "/admin/chat/user/{person}/link/": ("People", "true"),
    "/admin/chat/user/{person}/password/": ("People", "true"),
    "/admin/chat/invite/add/": ("Invitations", "true"),
    "/admin/auth/group/add/": ("Groups", "true"),
    "/admin/chat/conversation/?q=talk": ("Chats", "page"),
    "/admin/chat/conversation/{conversation}/change/": ("Chats", "true"),
    "/admin/chat/conversationaccess/": ("Who read what", "page"),
    "/admin/chat/run/": ("Replies", "page"),
    "/admin/chat/run/rates/": ("Statistics", "page"),
}
IN_A_THREAD = {"Cloudflare", "Name and picture", "Setup check"}


def shown(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    page = response.content.decode()
    assert "breadcrumbs" not in page
    return unescape(page)


def links(client: Client, address: str) -> list[tuple[str, str, str]]:
    """(URL, mark, name) of each."""
    (nav,) = BAR.findall(shown(client, address))
    return LINK.findall(nav)


@pytest.mark.parametrize("address", PAGES)
def test_the_bar_is_on_every_page_with_its_list_marked(administrator: Client, address: str) -> None:
    talk = seed.talk("alice")
    found = links(administrator, address.format(person=talk.user_id, conversation=talk.pk))
    assert [(name, mark) for _url, mark, name in found if mark] == [PAGES[address]]
    assert [name for _url, _mark, name in found] == [
        "Overview", "People", "Invitations", "Groups", "Chats", "Shared links", "Who read what", "Models",
        "Tool servers", "Assistants", "Cloudflare", "Replies", "API calls", "Title requests",
        "API keys", "Statistics", "Processes", "Name and picture", "Setup check",
    ]  # fmt: skip


def test_its_links_lead_there(administrator: Client) -> None:
    found = links(administrator, "/admin/")
    # The others are read in a thread of the server, see tests/admin/test_connect.py and test_site.py.
    for url, _mark, name in [each for each in found if each[2] not in IN_A_THREAD]:
        assert links(administrator, url)[0][2] == "Overview", name


def test_it_has_five_groups(administrator: Client) -> None:
    page = shown(administrator, "/admin/")
    groups = re.findall(r'<a class="group" id="bar-\d" href="(.*?)">(.*?)</a>', page)
    assert [name for _url, name in groups] == ["People", "Chats", "Models", "Usage", "System"]
    assert groups[0][0] == "/admin/chat/user/"  # a group opens with its first page


def test_a_list_that_no_group_names_is_under_system(administrator: Client) -> None:
    request = administrator.get("/admin/").wsgi_request
    apps = [{"models": [{"object_name": "New", "model": User, "name": "News", "admin_url": "/new/"}]}]
    *_others, last = bar(request, apps)
    assert [item.name for item in last.items] == ["News", "Name and picture", "Setup check"]


def test_reviewers_see_what_they_may_read(reviewer: Client) -> None:
    assert [name for _url, _mark, name in links(reviewer, LIST)] == ["Overview", "Chats", "Shared links"]


def test_staff_without_rights_have_none() -> None:
    assert BAR.findall(shown(as_(User.objects.create_user("carol", is_staff=True)), "/admin/")) == []
