"""A temporary chat ends when its page is left."""

from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage
from tests.support.server import Server
from tests.support.waiting import until


def test_a_temporary_chat_goes_when_its_page_is_left(chat: ChatPage, server: Server) -> None:
    page = chat.page
    page.get_by_role("link", name="Temporary chat").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Temporary chat")
    chat.asked("where the treasure is\nfake: words tokens=3 delay=0")
    assert page.url.endswith("?temporary=on")
    assert server.database.value("SELECT COUNT(*) FROM chat_conversation") == 1
    expect(page.locator("#conversations li")).to_have_count(0)
    page.locator(".question [data-action=more]").click()
    page.get_by_role("menuitem", name="Continue in a new chat").click()
    page.wait_for_url("**/c/**")  # what was posted keeps the chat: the form may lead back to it
    assert server.database.value("SELECT COUNT(*) FROM chat_conversation") == 2
    page.goto("/?temporary=on")
    chat.asked("and another\nfake: words tokens=3 delay=0")
    page.goto("/")
    until(lambda: server.database.value("SELECT COUNT(*) FROM chat_conversation") == 2)
