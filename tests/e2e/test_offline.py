"""The page without a network: writing goes on, and sent messages go out later."""

import pytest
from playwright.sync_api import Request, expect

from tests.e2e.chat_page import ChatPage, Window, question, words
from tests.e2e.sidebar_page import look
from tests.support.server import Server


@pytest.fixture
def chat(request: pytest.FixtureRequest, window: Window, server: Server) -> ChatPage:
    """Open a chat on a wide page, or as wide as the test says.

    In a window of its own, because a whole process believes that it is offline.
    """
    return ChatPage.open(window, server, width=getattr(request, "param", 1280), own=True)


@pytest.mark.parametrize("chat", [1280, 390], indirect=True)
def test_the_offline_banner_disappears_by_itself(chat: ChatPage) -> None:
    banner = chat.page.locator("#offline")
    expect(banner).to_be_hidden()
    chat.page.context.set_offline(True)
    expect(banner).to_be_visible()
    expect(chat.page.get_by_role("status")).to_contain_text("You’re offline.")
    chat.box.press_sequentially("Still writing")
    expect(chat.box).to_have_value("Still writing")
    chat.page.context.set_offline(False)
    expect(banner).to_be_hidden()


@pytest.mark.parametrize("hidden", [False, True])
def test_an_offline_question_waits_and_is_sent_once(chat: ChatPage, server: Server, hidden: bool) -> None:
    chat.page.clock.install()
    chat.ready().page.context.set_offline(True)
    tries: list[Request] = []
    chat.page.on("requestfailed", lambda request: tries.append(request))
    chat.ask("A very long tunnel")
    expect(chat.page.get_by_text("This will be sent when you’re back online.")).to_be_visible()
    look(chat.page, hidden=hidden)
    for _ in range(200):
        if len(tries) > 20:  # far more than a message gets from a server that answers
            break
        chat.page.clock.run_for(16_000)
        chat.page.wait_for_timeout(50)
    assert len(tries) > 20
    expect(chat.page.get_by_text("This will be sent when you’re back online.")).to_be_visible()
    chat.page.context.set_offline(False)
    assert chat.ended() == "You said: A very long tunnel"
    query = "SELECT count(*) FROM chat_message WHERE role = 'user' AND text = 'A very long tunnel'"
    assert server.database.value(query) >= 1
    expect(chat.questions).to_have_count(1)


def test_a_question_that_waits_can_be_taken_back(chat: ChatPage) -> None:
    chat.ready().page.context.set_offline(True)
    chat.ask("On second thought")
    expect(chat.page.get_by_text("This will be sent when you’re back online.")).to_be_visible()
    chat.stop.click()
    expect(chat.box).to_have_value("On second thought")
    expect(chat.questions).to_have_count(0)


def test_a_reply_goes_on_after_a_time_offline(chat: ChatPage) -> None:
    chat.ask(question("words tokens=120 delay=0.02"))
    chat.grown_to(60)
    chat.page.context.set_offline(True)
    chat.page.wait_for_timeout(300)
    chat.page.context.set_offline(False)
    assert chat.ended() == words(120)
