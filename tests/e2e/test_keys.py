"""The pages of API keys and of examples, with scripts and without, narrow and wide."""

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import Window
from tests.support.people import PASSWORD
from tests.support.server import Server


@pytest.mark.parametrize("scripts", [True, False])
def test_a_key_is_made_shown_and_revoked(window: Window, server: Server, scripts: bool) -> None:
    page = window(server, "alice", at="/settings/", java_script_enabled=scripts)
    page.get_by_role("link", name="API keys").click()
    name = f"for a robot {scripts}"
    page.get_by_label("Name").fill(name)
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Create key").click()
    secret = page.get_by_label(f"Key “{name}”")
    expect(secret).to_have_value(secret.input_value())
    assert secret.input_value().startswith("chat_")
    copy = page.get_by_role("button", name="Copy")
    if scripts:
        copy.click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
    else:
        expect(copy).to_be_hidden()
    row = page.get_by_role("listitem").filter(has_text=name)
    row.get_by_text("Revoke", exact=False).first.click()
    row.get_by_role("button", name="Revoke this key").click()
    expect(page.get_by_role("listitem").filter(has_text=name)).to_contain_text("Revoked")
    expect(secret).to_have_count(0)
