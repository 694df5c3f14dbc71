"""An assistant is made, begins a chat with an opening question, and is named where it answers."""

import re

from playwright.sync_api import Page, expect

from tests.e2e import axe
from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.files_page import PHOTO
from tests.fake_cloudflare.server import Fake
from tests.files import documents
from tests.support.server import Server

QUESTION = "fake: words tokens=3 delay=0"
LLAMA = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
RULES = {"name": "rules.txt", "mimeType": "text/plain", "buffer": b"Chess has kings."}
SCAN = {"name": "scan.pdf", "mimeType": "application/pdf", "buffer": documents.pdf("")}
MORE = {
    "name": "more.pdf",
    "mimeType": "application/pdf",
    "buffer": documents.pdf("Go has stones.", "Black begins."),
}
TOP = "element => element.getBoundingClientRect().top"
BOTTOM = "element => element.getBoundingClientRect().bottom"


def test_an_assistant_from_its_form_to_its_chat(window: Window, server: Server) -> None:
    page: Page = window(server, "alice", at="/settings/assistants/", **axe.WINDOW)
    page.get_by_role("link", name="New assistant").press("Enter")
    page.get_by_role("button", name="Save").click()
    assert page.get_by_label("Name", exact=True).evaluate(TOP) >= page.locator(".topbar").evaluate(BOTTOM)
    page.get_by_label("Name", exact=True).fill("Cook")
    page.get_by_label("Instructions").fill("Cook for {name}.")
    page.get_by_text("More settings").press("Enter")
    page.get_by_label("Description").fill("Cooks for two")
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
    expect(chat.box).to_be_focused()
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
    page: Page = window(server, "bob", at="/settings/assistants/new/", java_script_enabled=False)
    page.get_by_label("Name", exact=True).fill("Cook")
    page.get_by_text("More settings").click()
    page.get_by_label("Question 1").fill(QUESTION)
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Start a chat").click()
    page.get_by_role("button", name=QUESTION).click()
    page.wait_for_url("**/c/**")
    expect(page.locator(".topbar .with-assistant bdi")).to_have_text("Cook")


def test_documents_are_added_shown_and_removed(window: Window, server: Server, fake: Fake) -> None:
    page: Page = window(server, "alice", at="/settings/assistants/new/", **axe.WINDOW)
    page.get_by_label("Name", exact=True).fill("Referee")
    page.get_by_label("Add documents").set_input_files([RULES, MORE, SCAN, PHOTO])
    boxes = page.locator(".chosen-documents input:checked")
    expect(boxes).to_have_count(2)
    refused = page.get_by_role("alert")
    expect(refused.filter(has_text="holds no text")).to_have_count(1)
    expect(refused.filter(has_text="This is a picture.")).to_have_count(1)
    for button in page.get_by_role("button", name="Cancel").all()[::-1]:
        button.press("Enter")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert axe.findings(page) == []
    page.get_by_role("button", name="Save").press("Enter")
    page.get_by_role("link", name="Start a chat Referee").press("Enter")
    shown = page.get_by_role("list", name="Documents")
    expect(shown).to_contain_text("more.pdf 2 pages")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert axe.findings(page) == []
    chat = ChatPage(page)
    chat.asked(QUESTION)
    assert str(fake.calls[-1]["body"]["messages"]).count("Chess has kings.") == 1
    page.goto("/settings/assistants/")
    page.get_by_role("link", name="Edit Referee").press("Enter")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_label("rules.txt", exact=True).press("Space")
    page.get_by_role("button", name="Save").press("Enter")
    page.get_by_role("link", name="Edit Referee").press("Enter")
    expect(boxes).to_have_count(1)


def test_an_uploaded_picture_is_shown_and_removed(window: Window, server: Server) -> None:
    page: Page = window(server, "alice", at="/settings/assistants/new/", **axe.WINDOW)
    page.get_by_label("Name", exact=True).fill("Painter")
    page.get_by_text("More settings").press("Enter")
    page.get_by_label("Upload a picture").set_input_files(PHOTO)
    page.get_by_role("button", name="Save").press("Enter")
    shown = page.locator(".assistant-list img")
    expect(shown).to_have_js_property("naturalWidth", 128)
    page.get_by_role("link", name="Start a chat Painter").press("Enter")
    expect(page.locator(".assistant-start img")).to_have_js_property("naturalWidth", 128)
    assert axe.findings(page) == []
    page.goto("/settings/assistants/")
    page.get_by_role("link", name="Edit Painter").press("Enter")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert axe.findings(page) == []
    page.get_by_text("More settings").press("Enter")
    page.get_by_label("Uploaded picture").press("Space")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_role("heading", name="Painter")).to_be_visible()
    expect(shown).to_have_count(0)


def test_the_parameters_follow_the_chosen_model(window: Window, server: Server) -> None:
    page: Page = window(server, "alice", at="/settings/assistants/new/", **axe.WINDOW)
    page.get_by_label("Name", exact=True).fill("Taster")
    page.get_by_text("More settings").press("Enter")
    model, controls = page.get_by_label("Model", exact=True), page.locator("#parameters")
    model.select_option(LLAMA)
    expect(controls).to_have_attribute("data-model", LLAMA)
    page.get_by_role("spinbutton", name="Temperature").fill("1.5")
    page.get_by_label("Top K").fill("3")
    assert axe.findings(page) == []
    model.select_option("")
    expect(page.get_by_role("group", name="Thinking")).to_be_visible()
    expect(page.get_by_label("Top K")).to_have_count(0)
    expect(page.get_by_role("spinbutton", name="Temperature")).to_have_value("1.5")
    model.select_option(LLAMA)
    expect(page.get_by_label("Top K")).to_have_value("3")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page).to_have_url(re.compile(r"/settings/assistants/\?saved=1$"))
    page.get_by_role("link", name="Edit Taster").press("Enter")
    expect(page.get_by_label("Top K")).to_have_value("3")


def test_parameters_that_cannot_be_loaded_are_shown_later(window: Window, server: Server) -> None:
    page: Page = window(server, "alice", at="/settings/assistants/new/", **axe.WINDOW)
    page.get_by_label("Name", exact=True).fill("Taster")
    page.get_by_text("More settings").press("Enter")
    page.route("**/models/parameters/**", lambda route: route.abort())
    page.get_by_label("Model", exact=True).select_option(LLAMA)
    expect(page.get_by_role("alert")).to_have_text(re.compile("couldn’t be loaded"))
    assert axe.findings(page) == []
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_text("Only the values that it takes")).to_be_visible()
    expect(page.locator("#parameters")).to_have_attribute("data-model", LLAMA)
