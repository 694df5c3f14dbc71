"""The page of API keys."""

from playwright.sync_api import expect

from tests.e2e.chat_page import Window
from tests.support.people import PASSWORD
from tests.support.server import Server


def test_a_key_is_made_shown_and_revoked(window: Window, server: Server) -> None:
    page = window(server, "alice", at="/settings/")
    page.get_by_role("link", name="API keys").click()
    page.get_by_label("Name").fill("for a robot")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Create key").click()
    secret = page.get_by_label("Key “for a robot”")
    expect(secret).to_have_value(secret.input_value())
    assert secret.input_value().startswith("chat_")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    row = page.get_by_role("listitem").filter(has_text="for a robot")
    row.get_by_text("Revoke", exact=False).first.click()
    row.get_by_role("button", name="Revoke this key").click()
    expect(row).to_contain_text("Revoked")
    expect(secret).to_have_count(0)
