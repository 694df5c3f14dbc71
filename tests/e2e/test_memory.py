"""The memory in the settings over the chat, by keyboard alone, and on a narrow page."""

from playwright.sync_api import Page, expect

from tests.e2e.accessibility import problems
from tests.e2e.chat_page import Window
from tests.support.server import Person, Server

LONG = "Donaudampfschifffahrtsgesellschaft" * 14


def emptied(server: Server) -> Person:
    alice = server.person("alice")
    assert alice.post("/settings/memory/delete/").status_code == 200
    return alice


def test_it_is_kept_by_keyboard_over_the_chat(window: Window, server: Server) -> None:
    emptied(server)
    page = window(server, "alice")
    page.goto("/")
    page.get_by_role("link", name="Settings", exact=True).press("Enter")
    dialog = page.get_by_role("dialog", name="Settings")
    dialog.get_by_role("link", name="Memory").press("Enter")
    dialog.get_by_label("What should models remember?").focus()
    page.keyboard.type("I like tea.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(dialog.get_by_text("Your changes are saved.")).to_be_visible()
    entry = dialog.get_by_role("listitem").filter(has_text="I like tea.")
    entry.locator("summary").press("Enter")
    page.keyboard.press("Tab")
    expect(entry.get_by_label("Memory")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type(" And milk.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    entry = dialog.get_by_role("listitem").filter(has_text="I like tea. And milk.")
    expect(entry).to_have_count(1)
    dialog.get_by_label("Off").press("Space")
    expect(dialog.get_by_role("status").filter(has_text="Saved").first).to_be_visible()
    entry.locator("summary").press("Enter")
    entry.get_by_role("button", name="Delete this memory").press("Enter")
    expect(entry).to_have_count(0)
    expect(dialog.get_by_label("Off")).to_be_checked()
    expect(page).to_have_url(f"{server.url}/")


def overflow(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def test_long_words_keep_within_a_narrow_page(window: Window, server: Server) -> None:
    alice = emptied(server)
    for fact in ("I like tea.", LONG):
        assert alice.post("/settings/memory/", {"fact": fact}).status_code == 201
    page = window(server, "alice")
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto("/settings/memory/")
    page.locator(".record-list summary").first.press("Enter")
    expect(page.get_by_role("button", name="Delete this memory")).to_be_visible()
    assert overflow(page) <= 0
    assert problems(page) == []
    emptied(server)
