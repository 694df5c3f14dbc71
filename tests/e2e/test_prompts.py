"""The prompt library: its pages, and the menu that a slash opens in the empty message box."""

import re

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.axe import findings
from tests.e2e.chat_page import ChatPage, Window
from tests.support.server import Server

LETTER = {
    "title": "Formal letter",
    "command": "letter",
    "text": "Dear {{name}},\nabout {{topic:boats}}: {{name}}!",
}
SUMMARY = {"title": "Short summary", "command": "summary", "text": "Summarize this:\n"}


def save(chat: ChatPage, *prompts: dict[str, str]) -> None:
    cookies = {cookie["name"]: cookie["value"] for cookie in chat.page.context.cookies()}
    for prompt in prompts:
        response = chat.page.request.post(
            "/settings/prompts/", data=prompt, headers={"X-CSRFToken": cookies["csrftoken"]}
        )
        assert response.status == 201, response.text()


def test_the_menu_of_prompts(chat: ChatPage) -> None:
    page, box = chat.page, chat.box
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    menu = page.get_by_role("listbox", name="Prompts")
    options = menu.get_by_role("option")

    # Without any prompt the menu offers to create one; a path is only text.
    box.press_sequentially("/")
    expect(options).to_have_text(["Create a prompt"])
    box.press_sequentially("etc/hosts")
    expect(menu).to_be_hidden()
    expect(box).to_have_value("/etc/hosts")
    box.fill("a/")
    box.fill("")
    save(chat, LETTER, SUMMARY)

    # It filters while one types, and Tab takes.
    box.press_sequentially("/")
    expect(options).to_have_count(2)
    expect(box).to_have_attribute("aria-controls", "prompt-menu")
    expect(options.first).to_have_attribute("aria-selected", "true")
    assert findings(page) == []
    box.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    expect(box).to_have_attribute("aria-activedescendant", re.compile("^prompt-"))
    box.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    box.press_sequentially("sum")
    expect(options).to_have_count(1)
    expect(page.locator("#status")).to_have_text("1 prompt")
    box.press("Tab")
    expect(box).to_have_value("Summarize this:")
    expect(box).to_be_focused()
    expect(menu).to_be_hidden()
    assert box.get_attribute("aria-controls") is None
    assert box.evaluate("box => box.selectionStart") == len("Summarize this:")
    box.press("Control+z")
    expect(box).to_have_value("/sum")

    # Escape leaves the slash; a space ends the menu.
    box.fill("")
    box.press_sequentially("/")
    expect(options).to_have_count(2)
    box.press("Escape")
    expect(menu).to_be_hidden()
    expect(box).to_have_value("/")
    box.press_sequentially(" and")
    expect(menu).to_be_hidden()
    expect(box).to_have_value("/ and")
    assert [url for url in fetched if "/prompts/" in url], "the menu was fetched"


@pytest.mark.parametrize(("late", "name"), [("**/prompt_menu.*.js", "erin"), ("**/prompts/", "root")])
def test_a_command_sent_before_the_menu_is_there_waits_for_it(
    window: Window, server: Server, late: str, name: str
) -> None:
    chat = ChatPage.open(window, server, name)
    page, box = chat.page, chat.box
    save(chat, SUMMARY | {"title": "Recap", "command": "recap"})
    held: list[Route] = []
    page.route(late, lambda route: held.append(route))
    with page.expect_request(late):
        box.press_sequentially("/rec")
    box.press("Enter")
    box.press("Enter")
    expect(box).to_have_value("/rec")
    expect(chat.questions).to_have_count(0)
    held[0].continue_()
    expect(box).to_have_value("Summarize this:")
    expect(chat.questions).to_have_count(0)
    # A text that is no command, or that of no prompt, is a question all the same.
    for text in ("/etc/hosts", "/ and more"):
        box.fill("/")
        box.fill(text)
        box.press("Enter")
        expect(chat.questions.last).to_have_text(re.compile(re.escape(text)))
        chat.ended()


def test_a_command_is_a_question_if_the_menu_does_not_come(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, "root")
    chat.page.route("**/prompts/", lambda route: None)
    chat.box.press_sequentially("/summ")
    chat.box.press("Enter")
    expect(chat.questions).to_have_text([re.compile("/summ")])
    chat.ended()


def test_a_prompt_with_fields(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, "bob")
    page, box = chat.page, chat.box
    save(chat, LETTER)
    box.press_sequentially("/")
    expect(page.get_by_role("option")).to_have_count(1)
    box.press("Enter")
    dialog = page.get_by_role("dialog", name="Formal letter")
    name, topic = dialog.get_by_label("name", exact=True), dialog.get_by_label("topic", exact=True)
    expect(name).to_be_focused()
    expect(topic).to_have_value("boats")
    assert findings(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(box).to_have_value("/")
    box.fill("")
    box.press_sequentially("/")
    expect(page.get_by_role("option")).to_have_count(1)
    box.press("Enter")
    name.press_sequentially("Ada")
    name.press("Shift+Enter")
    name.press_sequentially("and Bob")
    topic.press("Enter")
    expect(dialog).to_be_hidden()
    filled = "Dear Ada\nand Bob,\nabout boats: Ada\nand Bob!"
    expect(box).to_have_value(filled)
    expect(box).to_be_focused()
    page.reload()
    expect(box).to_have_value(filled)  # as a draft
    chat.box.press("Enter")
    expect(chat.questions.last).to_contain_text("about boats: Ada")
    chat.ended()


def test_a_prompt_is_used_from_its_list(window: Window, server: Server) -> None:
    save(ChatPage.open(window, server), LETTER | {"command": "used", "title": "Used"})
    page = window(server, "alice", at="/settings/prompts/")
    page.get_by_role("link", name="Use in a new chat Used").press("Enter")
    page.get_by_label("name", exact=True).fill("Ada")
    expect(page.get_by_label("topic", exact=True)).to_have_value("boats")
    assert findings(page) == []
    page.set_viewport_size({"width": 390, "height": 800})
    page.get_by_role("button", name="Put into the message box").press("Enter")
    box = page.get_by_label("Your message")
    expect(box).to_have_value("Dear Ada,\nabout boats: Ada!")
    page.get_by_role("button", name="Send", exact=True).click()
    page.wait_for_url("**/c/**")
    expect(page.get_by_text("about boats: Ada!").first).to_be_visible()


def test_nothing_is_loaded_before_the_first_slash(window: Window, server: Server) -> None:
    page = window(server, "bob")
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto("/")
    box = ChatPage(page).box
    box.press_sequentially("either/or")
    page.wait_for_load_state("networkidle")
    assert not [url for url in fetched if "prompt" in url]


def test_a_finger_takes_a_prompt(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, "erin", width=390, is_mobile=True, has_touch=True)
    save(chat, SUMMARY, LETTER)
    chat.box.tap()
    chat.box.press_sequentially("/")
    option = chat.page.get_by_role("option", name="Short summary")
    expect(option).to_be_in_viewport(ratio=1)
    assert chat.page.evaluate("document.documentElement.scrollWidth") == 390
    option.tap()
    expect(chat.box).to_have_value("Summarize this:")
    expect(chat.box).to_be_focused()
