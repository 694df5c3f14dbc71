"""The set-up check as an administrator sees it."""

from playwright.sync_api import expect

from tests.e2e.axe import WINDOW, findings
from tests.e2e.chat_page import Window
from tests.e2e.translation_audit import too_wide
from tests.support.server import Server


def test_the_set_up_is_checked_and_fits_at_every_width(window: Window, server: Server) -> None:
    page = window(server, "root", at="/admin/", width=390, **WINDOW)
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Setup check").click()
    page.get_by_role("button", name="Check the setup").click()
    expect(page.get_by_role("heading", name="Results")).to_be_visible()
    expect(page.get_by_text("Everything works.")).to_be_visible()
    expect(page.locator(".findings [data-state=good]")).to_have_count(8)
    page.get_by_role("button", name="Test the models").click()
    expect(page.get_by_role("heading", name="Test the models")).to_be_visible()
    expect(page.get_by_text("Everything works.")).to_be_visible()
    assert findings(page) == []
    assert too_wide(page, 1280, 390, 320) == []
