"""An assistant is made, begins a chat with an opening question, and is named where it answers."""

import re

from playwright.sync_api import Page, expect

from tests.e2e import axe
from tests.e2e.chat_page import ChatPage, Window
from tests.support.server import Server

QUESTION = "fake: words tokens=3 delay=0"


def test_an_assistant_from_its_form_to_its_chat(window: Window, server: Server) -> None:
    page: Page = window(server, "alice", **axe.WINDOW)
    page.goto("/settings/assistants/")
    page.get_by_role("link", name="New assistant").press("Enter")
    page.get_by_label("Name", exact=True).fill("Cook")
    page.get_by_label("Description").fill("Cooks for two")
    page.get_by_label("Instructions").fill("Cook for {name}.")
    page.get_by_label("Question 1").fill(QUESTION)
    page.get_by_role("spinbutton", name="Temperature").fill("0.5")
    assert axe.findings(page) == []
    page.get_by_label("Name", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="Cook")).to_be_visible()
    assert axe.findings(page) == []
    page.goto("/")
    page.get_by_role("navigation", name="Assistants").get_by_role("link", name="Cook").press("Enter")
    page.wait_for_url(re.compile(r"\?assistant="))
    expect(page.locator(".assistant-start")).to_contain_text("Cooks for two")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert axe.findings(page) == []
    chat = ChatPage(page)
    page.get_by_role("button", name=QUESTION).press("Enter")
    chat.ended()
    expect(chat.questions).to_have_count(1)
    expect(page.locator(".topbar .with-assistant bdi")).to_have_text("Cook")
    sent = "SELECT v.name, c.parameters FROM chat_conversation c JOIN chat_assistantversion v"
    rows = server.database.rows(f"{sent} ON v.id = c.assistant_version_id")
    assert [(name, "0.5" in str(parameters)) for name, parameters in rows] == [("Cook", True)]
    chat.ask(f"and\n{QUESTION}")  # the next turn names no assistant
    expect(chat.replies).to_have_count(2)
    chat.ended()
    page.reload()
    expect(page.locator(".topbar .with-assistant bdi")).to_have_text("Cook")
    assert axe.findings(page) == []


def test_an_opening_question_without_scripts(window: Window, server: Server) -> None:
    page: Page = window(server, "bob", java_script_enabled=False)
    page.goto("/settings/assistants/new/")
    page.get_by_label("Name", exact=True).fill("Cook")
    page.get_by_label("Question 1").fill(QUESTION)
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Start a chat").click()
    page.get_by_role("button", name=QUESTION).click()
    page.wait_for_url("**/c/**")
    expect(page.locator(".topbar .with-assistant bdi")).to_have_text("Cook")
