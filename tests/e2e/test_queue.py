"""Messages sent while a reply is being written wait above the box, and are sent in their order."""

import re
import uuid

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.chat_page import ChatPage, Window, question, text_of
from tests.support.people import SESSIONS
from tests.support.server import Server

LONG = question("words tokens=4000 delay=0.05")
BRIEF = question("words tokens=60 delay=0.05")
ASKED = "SELECT count(*) FROM chat_message WHERE role = 'user' AND text = '{}'"


def queue(chat: ChatPage) -> Locator:
    return chat.page.locator("#queue")


def rows(chat: ChatPage) -> Locator:
    return queue(chat).get_by_role("listitem")


def button(where: Locator, name: str) -> Locator:
    return where.get_by_role("button", name=name, exact=True)


def began(chat: ChatPage, text: str = LONG) -> None:
    """A reply is being written, and its conversation has an address."""
    chat.ask(text)
    chat.grown_to(5)
    chat.has_address()


def question_texts(chat: ChatPage) -> list[str]:
    return [text_of(article).split("\n")[0] for article in chat.questions.all()]


def test_messages_wait_and_go_out_in_order(chat: ChatPage) -> None:
    began(chat, BRIEF)
    chat.ask("Second")
    expect(rows(chat)).to_have_count(1)
    expect(chat.page.get_by_role("status")).to_have_text("Waiting to be sent")
    chat.ask("Third")
    expect(rows(chat)).to_have_text([re.compile("Second"), re.compile("Third")])
    expect(chat.box).to_have_value("")
    expect(chat.box).to_be_focused()
    expect(chat.replies.nth(2).locator("[data-part=text]")).to_have_text("You said: Third")
    chat.ended()
    assert question_texts(chat) == ["Tell me something.", "Second", "Third"]
    expect(queue(chat)).to_be_hidden()


def test_a_message_queued_before_the_conversation_exists(chat: ChatPage) -> None:
    chat.ask(question("words tokens=5 delay=0.05 first=2"))
    chat.ask("Second")
    expect(chat.questions).to_have_count(2)
    assert chat.ended() == "You said: Second"
    assert chat.page.evaluate("Object.keys(localStorage).filter((key) => key.includes('queue-'))") == []


def test_it_survives_a_reload(chat: ChatPage) -> None:
    began(chat, question("words tokens=200 delay=0.05"))
    chat.ask("Second")
    expect(rows(chat)).to_have_count(1)
    chat.page.reload()
    expect(rows(chat)).to_contain_text("Second")
    expect(chat.questions).to_have_count(2, timeout=30_000)
    assert chat.ended() == "You said: Second"


def test_a_reply_that_ended_meanwhile_is_no_obstacle(chat: ChatPage, server: Server) -> None:
    began(chat, BRIEF)
    address = chat.page.url
    chat.ask("Second")
    expect(rows(chat)).to_have_count(1)
    chat.page.goto("/settings/")
    ended = f"SELECT count(*) FROM chat_run WHERE status = 'complete' AND conversation_id = '{key(address)}'"
    while not server.database.value(ended):
        chat.page.wait_for_timeout(100)
    chat.page.goto(address)
    expect(chat.questions).to_have_count(2)
    assert chat.ended() == "You said: Second"


def key(address: str) -> str:
    """The key of the conversation as SQLite holds it."""
    return address.split("/c/")[1].strip("/").replace("-", "")


def test_after_a_stop_the_person_decides(chat: ChatPage, server: Server) -> None:
    began(chat)
    chat.ask("Second")
    expect(rows(chat)).to_have_count(1)
    chat.stop.click()
    chat.ended("stopped")
    expect(queue(chat)).to_contain_text("Not sent yet")
    chat.page.reload()
    expect(queue(chat)).to_contain_text("Not sent yet")
    expect(chat.questions).to_have_count(1)
    chat.page.route("**/js/thread.*", lambda route: route.abort())  # what shows the next turn does not come
    server.person("alice").asked("Elsewhere", f"{chat.page.url}messages/")
    button(queue(chat), "Send now").click()
    expect(chat.questions).to_have_count(2)
    assert chat.ended() == "You said: Second"
    expect(queue(chat)).to_be_hidden()


def test_a_message_keeps_what_was_chosen_when_it_was_written(chat: ChatPage) -> None:
    began(chat, question("words tokens=200 delay=0.05"))
    web, thinking = (chat.page.get_by_role("switch", name=name) for name in ("Web", "Thinking"))
    web.check(force=True)
    thinking.uncheck(force=True)
    chat.ask("Second")
    expect(rows(chat)).to_have_count(1)
    web.uncheck(force=True)
    with chat.page.expect_request("**/messages/?html=1", timeout=30_000) as sent:
        thinking.check(force=True)
    assert sent.value.post_data_json["tools"] == ["web_search"]
    assert sent.value.post_data_json["parameters"] == {"thinking": False}


def test_what_waits_in_another_new_chat_is_left_to_it(chat: ChatPage) -> None:
    chat.ready().page.evaluate("""() => {
      const items = [{ key: '00000000-0000-4000-8000-000000000001', text: 'Elsewhere', at: Date.now() }];
      const name = `draft:${document.getElementById('sign-out').dataset.user}:queue-new`;
      localStorage.setItem(name, JSON.stringify({ held: false, items }));
      dispatchEvent(new Event('storage'));
      document.dispatchEvent(new Event('visibilitychange'));
    }""")
    expect(rows(chat)).to_contain_text("Elsewhere")
    chat.asked("Mine")
    assert question_texts(chat) == ["Mine"]
    chat.page.goto("/")
    expect(rows(chat)).to_contain_text("Elsewhere")


def test_a_message_is_edited_in_its_place(chat: ChatPage) -> None:
    began(chat, question("words tokens=100 delay=0.05"))
    for text in ("Second", "Third"):
        chat.ask(text)
        expect(rows(chat).last).to_contain_text(text)
    button(rows(chat).first, "Edit").click()
    edit = queue(chat).get_by_role("textbox", name="Edit your message")
    expect(edit).to_be_focused()
    edit.fill("Second, but better")
    chat.page.reload()
    expect(edit).to_have_value("Second, but better")
    chat.ended()
    expect(chat.questions).to_have_count(1)  # nothing overtakes what is being edited
    edit.press("Enter")
    expect(chat.questions).to_have_count(3)
    assert chat.ended() == "You said: Third"
    assert question_texts(chat)[1:] == ["Second, but better", "Third"]


def test_escape_keeps_the_message_as_it_was(chat: ChatPage) -> None:
    began(chat)
    chat.ask("Second")
    expect(rows(chat)).to_have_count(1)
    chat.box.press("ArrowUp")
    edit = queue(chat).get_by_role("textbox", name="Edit your message")
    edit.fill("Something else")
    edit.press("Escape")
    expect(rows(chat)).to_contain_text("Second")
    expect(button(rows(chat), "Edit")).to_be_focused()
    chat.stop.click()
    chat.ended("stopped")


def test_a_message_is_taken_back_into_the_box(chat: ChatPage) -> None:
    began(chat)
    chat.ask("Second")
    expect(rows(chat)).to_have_count(1)
    chat.box.fill("Half a thought")
    button(rows(chat), "Put back into the box").click()
    expect(chat.box).to_have_value("Second\n\nHalf a thought")
    expect(chat.box).to_be_focused()
    expect(queue(chat)).to_be_hidden()
    chat.stop.click()
    chat.ended("stopped")


def test_a_finger_queues_with_a_button(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=390, is_mobile=True, has_touch=True)
    began(chat, BRIEF)
    chat.box.fill("Second")
    chat.page.get_by_role("button", name="Send after this reply").tap()
    expect(rows(chat)).to_have_count(1)
    expect(chat.questions).to_have_count(2)
    assert chat.ended() == "You said: Second"


@pytest.mark.parametrize("locks", [True, False])
def test_two_tabs_send_it_once(window: Window, server: Server, locks: bool) -> None:
    """Also without the Locks API, as on http:// addresses other than localhost."""
    chat = ChatPage.open(window, server, own=True)
    if not locks:
        chat.page.context.add_init_script("Object.defineProperty(navigator, 'locks', { value: undefined })")
        chat.page.reload()
    text = f"Only once, please: {uuid.uuid4()}"  # also if the test runs a second time
    began(chat, question("words tokens=400 delay=0.05"))
    tab = chat.another_tab()
    tab.grown_to(5)
    chat.ask(text)
    for page in (chat, tab):
        expect(rows(page)).to_have_count(1)
    for page in (chat, tab):
        expect(page.questions).to_have_count(2, timeout=30_000)
        assert page.ended() == f"You said: {text}"
        expect(queue(page)).to_be_hidden()
    assert server.database.value(ASKED.format(text)) == 1


def test_offline_it_waits_for_the_network(chat: ChatPage, server: Server) -> None:
    began(chat, BRIEF)
    chat.ask("From a tunnel")
    expect(rows(chat)).to_have_count(1)
    chat.page.context.set_offline(True)
    chat.page.wait_for_timeout(500)
    chat.page.context.set_offline(False)
    expect(chat.questions).to_have_count(2)
    assert chat.ended() == "You said: From a tunnel"
    assert server.database.value(ASKED.format("From a tunnel")) == 1


def test_a_conversation_deleted_elsewhere_keeps_it(chat: ChatPage, server: Server) -> None:
    began(chat, BRIEF)
    chat.ask("Too late")
    expect(rows(chat)).to_have_count(1)
    address = re.sub(r"^.*(/c/[^/]+/).*$", r"\1", chat.page.url)
    assert server.person("alice").post(f"{address}delete/").is_success
    expect(chat.notice).to_contain_text("deleted", timeout=30_000)
    expect(queue(chat)).to_contain_text("Not sent yet")
    expect(rows(chat)).to_contain_text("Too late")


def test_it_waits_for_an_expired_login(chat: ChatPage, server: Server) -> None:
    began(chat, BRIEF)
    chat.ask("After the login")
    expect(rows(chat)).to_have_count(1)
    chat.page.context.clear_cookies(name="sessionid")
    dialog = chat.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    address = chat.page.url
    button(dialog, "Leave this page").click()
    expect(chat.page).to_have_url(re.compile("/accounts/login/"))
    chat.page.context.add_cookies([{"name": "sessionid", "value": SESSIONS["alice"], "url": server.url}])
    chat.page.goto(address)
    expect(chat.questions).to_have_count(2)
    expect(chat.questions.last).to_contain_text("After the login")


def test_a_hidden_tab_sends_it_as_well(chat: ChatPage) -> None:
    began(chat, BRIEF)
    chat.ask("Second")
    expect(rows(chat)).to_have_count(1)
    chat.page.evaluate("""() => {
      Object.defineProperty(document, 'hidden', { get: () => true });
      document.dispatchEvent(new Event('visibilitychange'));
    }""")
    expect(chat.questions).to_have_count(2)
    assert chat.ended() == "You said: Second"
