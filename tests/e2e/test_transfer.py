"""Export from the menu of a conversation, and an import from the file to the list."""

import json
from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.axe import WINDOW, findings
from tests.e2e.chat_page import ChatPage, Window
from tests.support.server import Server
from tests.transfer import samples

LONG_NAME = "x" * 90


def test_a_file_is_imported_from_its_preview(window: Window, server: Server, tmp_path: Path) -> None:
    file = tmp_path / f"{LONG_NAME}.json"
    file.write_text(json.dumps([samples.chatgpt(), samples.claude(), {"mapping": {}}]))
    page = window(server, "alice", at="/settings/data/", width=320, **WINDOW)
    page.get_by_label("Choose a file").set_input_files(file)
    page.get_by_role("button", name="Upload and check").click()
    start = page.get_by_role("button", name="Start import")
    expect(start).to_be_visible()
    expect(page.get_by_text("2 chats are new.")).to_be_visible()
    page.get_by_text("Show their names").first.click()
    expect(page.get_by_text("cat.png")).to_be_visible()
    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    start.click()
    expect(page.get_by_text("2 chats were imported.")).to_be_visible()
    assert findings(page) == []
    page.goto("/")
    page.get_by_role("button", name="Chats").click()
    page.get_by_role("link", name="A poem", exact=True).click()
    expect(page.get_by_text("are red")).to_be_visible()


def test_each_step_is_in_view_on_a_phone_held_sideways(
    window: Window, server: Server, tmp_path: Path
) -> None:
    file = tmp_path / "export.json"
    file.write_text(json.dumps([samples.librechat()]))
    page = window(server, "erin", width=844)
    page.set_viewport_size({"width": 844, "height": 390})
    page.goto("/settings/data/")
    page.get_by_label("Choose a file").set_input_files(file)
    page.get_by_role("button", name="Upload and check").click()
    expect(page.get_by_role("button", name="Start import")).to_be_in_viewport()
    page.get_by_role("button", name="Start import").click()
    expect(page.get_by_text("1 chat was imported.")).to_be_in_viewport()


def test_a_conversation_that_just_began_is_exported(window: Window, server: Server) -> None:
    chat = ChatPage(window(server, "carol"))
    chat.page.goto("/")
    chat.ask("fake: words tokens=5")
    expect(chat.reply).to_have_attribute("data-status", "complete")
    chat.page.get_by_role("button", name="More", exact=True).click()
    chat.page.get_by_text("Export", exact=True).click()
    with chat.page.expect_download() as downloaded:
        chat.page.get_by_role("button", name="Markdown").click()
    assert "fake: words tokens=5" in downloaded.value.path().read_text("utf-8")
