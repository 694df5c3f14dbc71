"""The set-up check as an administrator sees it, with scripts and without."""

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import Window
from tests.e2e.translated import too_wide
from tests.server import Server


@pytest.mark.parametrize("width", [1280, 390, 320])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_set_up_is_checked_at_every_width(window: Window, server: Server, width: int, theme: str) -> None:
    page = window(server, "root", width=width, color_scheme=theme, java_script_enabled=theme == "light")
    page.goto("/admin/")
    page.get_by_role("link", name="Set-up check").click()
    page.get_by_role("button", name="Check the set-up").click()
    expect(page.get_by_role("heading", name="What was found")).to_be_visible()
    expect(page.get_by_text("No problem. See the notes.")).to_be_visible()
    expect(page.locator(".findings [data-state=good]")).to_have_count(5)
    page.get_by_role("button", name="Ask the models").click()
    expect(page.get_by_role("heading", name="Which models answer")).to_be_visible()
    expect(page.get_by_text("Everything works.")).to_be_visible()
    if theme == "light":
        assert too_wide(page, width) == []
