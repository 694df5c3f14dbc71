"""The administration's pages are in the chat's colours."""

import re

import pytest

from tests.support.server import Server

PAGES = ["/admin/", "/admin/chat/conversation/", "/admin/chat/user/", "/admin/chat/invite/add/"]


@pytest.mark.parametrize("path", PAGES)
def test_its_sheet_comes_last_and_no_script_chooses_colours(server: Server, path: str) -> None:
    page = server.person("root").get(path).text
    sheets = re.findall(r'<link rel="stylesheet" href="([^"]+)"', page)
    assert sheets[-1].startswith("/static/css/admin.")
    assert "theme" not in "".join(re.findall("<script[^>]*>", page))
    assert "theme-toggle" not in page


@pytest.mark.parametrize("path", ["/admin/chat/mcpserver/add/", "/admin/chat/user/2/change/"])
def test_no_field_has_buttons_that_open_windows(server: Server, path: str) -> None:
    page = server.person("root").get(path).text
    assert 'id="id_groups"' in page
    assert "related-widget-wrapper" not in page


def test_the_chosen_appearance_holds_here_too(server: Server) -> None:
    root = server.person("root")
    assert '<body class="theme-system dashboard"' in root.get("/admin/").text
    root.client.cookies.set("theme", "dark")
    assert '<body class="theme-dark dashboard"' in root.get("/admin/").text
