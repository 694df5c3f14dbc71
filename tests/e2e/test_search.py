"""The search as somebody uses it: by keyboard, by finger, and to the message wherever it is."""

import re

from playwright.sync_api import Route, expect

from tests.e2e.axe import findings
from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.input_methods import MOUSE, named, walks
from tests.support.server import Server


def test_keys_find_a_message_on_another_branch_and_open_it(chat: ChatPage) -> None:
    chat.asked("A quokka smiles")
    MOUSE.press(named(chat.questions.first, "Edit"))
    edit = chat.questions.first.get_by_role("textbox")
    edit.fill("Something else")
    edit.press("Control+Enter")
    walks(chat.questions.first, 2, 2)
    chat.ended()
    page = chat.page
    page.reload()
    chat.ready()
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search your chats")
    expect(field).to_be_focused()
    page.keyboard.type("quokk")
    options = page.get_by_role("option")
    expect(options).to_have_count(2)  # the chat, and what leads to the reply that repeats the word
    expect(page.get_by_role("dialog").get_by_role("status")).to_have_text("1 chat")
    expect(options.first.locator("mark")).to_have_text(["quokka", "quokka"])  # in the title and the question
    assert findings(page) == []
    option = options.first
    while option.get_attribute("aria-selected") != "true":
        page.keyboard.press("ArrowDown")
    expect(field).to_have_attribute("aria-activedescendant", option.get_attribute("id") or "")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"\?at=.*#m-"))
    walks(chat.questions.first, 1, 2)
    expect(chat.questions.first).to_contain_text("A quokka smiles")
    expect(chat.questions.first).to_be_in_viewport()


def test_the_dialog_says_when_nothing_is_found_and_closes(window: Window, server: Server) -> None:
    page = ChatPage.open(window, server, width=320, has_touch=True).page
    page.get_by_role("button", name="Chats", exact=True).tap()
    page.get_by_role("link", name="Search").tap()
    dialog = page.get_by_role("dialog", name="Search your chats")
    dialog.get_by_role("combobox").fill("xyzzyx")
    expect(dialog.get_by_role("status")).to_have_text("Nothing found.")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    dialog.get_by_role("button", name="Close").tap()
    expect(dialog).to_be_hidden()


def test_escape_closes_the_dialog_and_keeps_the_query(window: Window, server: Server) -> None:
    person = server.person("root")
    conversation = person.asked("A pangolin rolls").conversation
    page = ChatPage.open(window, server, "root").page
    page.get_by_role("link", name="Search").click()
    field = page.get_by_role("combobox", name="Search your chats")
    expect(field).to_be_focused()
    page.keyboard.type("pangolin")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    person.post(f"/c/{conversation}/delete/")
    page.keyboard.press("Control+k")
    expect(field).to_have_value("pangolin")
    assert field.evaluate("box => box.selectionEnd - box.selectionStart") == len("pangolin")
    expect(page.get_by_role("option")).to_have_count(0)  # not what was found before the deletion
    expect(page.get_by_role("dialog").get_by_role("status")).to_have_text("Nothing found.")


def test_enter_opens_what_is_typed_and_not_an_earlier_result(window: Window, server: Server) -> None:
    person = server.person("bob")
    wanted = {}
    for word in ("numbat", "wombat"):
        wanted[word] = person.asked(f"A {word} sleeps").conversation
    page = ChatPage.open(window, server, "bob").page
    page.get_by_role("link", name="Search").click()
    dialog = page.get_by_role("dialog", name="Search your chats")
    expect(dialog.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("numbat")
    expect(dialog.get_by_role("status")).to_have_text("1 chat")
    dialog.get_by_role("combobox").fill("wombat")
    page.keyboard.press("Enter")  # while the results of the earlier query are shown
    page.wait_for_url("**/c/**")
    assert wanted["wombat"] in page.url


def test_newer_results_keep_the_one_that_is_selected(window: Window, server: Server) -> None:
    person = server.person("carol")
    person.asked("A bilby digs")
    page = ChatPage.open(window, server, "carol").page
    page.get_by_role("link", name="Search").click()
    field = page.get_by_role("combobox", name="Search your chats")
    expect(field).to_be_focused()
    page.keyboard.type("bilb")
    options = page.get_by_role("option")
    expect(options).to_have_count(2)  # the chat, and its further hit
    held: list[Route] = []
    page.route("**/search/?q=bilby", lambda route: held.append(route))
    with page.expect_request("**/search/?q=bilby"):
        page.keyboard.type("y")
    page.keyboard.press("ArrowDown")
    selected = page.locator("#search [aria-selected=true]")
    wanted = selected.get_attribute("href")
    assert wanted
    assert "?at=" in wanted
    before = selected.element_handle()
    held[0].continue_()
    page.wait_for_function("option => !option.isConnected", arg=before)
    expect(selected).to_have_attribute("href", wanted)
    expect(field).to_have_attribute("aria-activedescendant", selected.get_attribute("id") or "")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{wanted}")


def test_a_result_on_another_branch_is_scrolled_into_view(window: Window, server: Server) -> None:
    person = server.person("bob")
    with person.ask("Where it begins") as stream:
        path = f"/c/{stream.to_end().conversation}/messages/"
    for number in range(8):
        stream = person.asked(f"A numbered echidna {number} " + "walks on " * 150, path)
    found = person.get("/search/", params={"q": "begins"}, headers={"Accept": "application/json"}).json()
    first = next(each["message"] for each in found["results"] if each["message"])
    stream = person.started(f"/messages/{first}/edit/", content="Elsewhere")
    page = ChatPage.open(window, server, "bob").page
    page.get_by_role("link", name="Search").click()
    expect(page.get_by_role("combobox", name="Search your chats")).to_be_focused()
    page.keyboard.type('"echidna 3"')
    wanted = page.get_by_role("option").first
    expect(wanted).to_contain_text("echidna 3")
    wanted.click()
    question = page.locator("article.question", has_text="echidna 3")
    expect(question).to_be_in_viewport()
    assert "?at=" in page.url
    page.go_back()
    expect(page).to_have_url(f"{server.url}/")


def test_recent_chats_come_first_and_further_hits_have_a_page(window: Window, server: Server) -> None:
    person = server.person("erin")
    with person.ask("A potoroo hops") as stream:
        path = f"/c/{stream.to_end().conversation}/messages/"
    for number in range(2):
        stream = person.asked(f"The potoroo, part {number}", path)
    page = ChatPage.open(window, server, "erin").page
    page.get_by_role("link", name="Search").click()
    options = page.get_by_role("dialog").get_by_role("option")
    expect(options.filter(has_text="A potoroo hops")).to_contain_text("Today")
    page.keyboard.type("potoroo")
    expect(options).to_have_count(2)
    expect(options.first).to_contain_text("Today")
    expect(options.nth(1)).to_have_text("5 more")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search/?q=potoroo&chat=**")
    hits = page.get_by_role("main").get_by_role("list").last.get_by_role("link")
    expect(hits).to_have_count(6)
    hits.first.click()
    expect(page.locator("article", has_text="part 1").first).to_be_in_viewport()
