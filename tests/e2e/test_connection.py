"""Messages and replies during a failure of the network, the server or the session."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.e2e.chat_page import ChatPage, Window, question, words
from tests.e2e.network import Network
from tests.e2e.seed import count_questions
from tests.e2e.sessions import sign_in
from tests.support.server import Server

SENT = re.compile(r"/c/\?html=1$")
# Each try waits as long as it may: the few that a question has are not over before a server has started.
PATIENT = "Math.random = () => 0.999"


@pytest.fixture(scope="module")
def chromium(whole_chromium: Browser) -> Browser:
    """With the back-forward cache."""
    return whole_chromium


@pytest.fixture
def network(server: Server) -> Iterator[Network]:
    made = Network(server.port)
    yield made
    made.close()


# The script that hears of a sign-out in another tab is loaded.
LISTENS = "() => performance.getEntriesByType('resource').some(({ name }) => /tabs/.test(name))"


def test_a_server_that_died_while_it_streamed_is_found_again(chat: ChatPage, server: Server) -> None:
    chat.ask(question("hang after=20"))
    seen = chat.grown_to(len(words(20)))
    chat.stored(server, len(words(20)))
    chat.page.evaluate(PATIENT)
    server.kill()
    expect(chat.page.get_by_text("Connection lost. Reconnecting…")).to_be_visible()
    server.start()
    assert chat.ended("interrupted") == seen == words(20)
    expect(chat.reply.get_by_text("Interrupted.")).to_be_visible()
    expect(chat.page.get_by_role("button", name="Continue")).to_be_visible()
    expect(chat.page.get_by_role("button", name="Try again")).to_have_count(0)


def test_a_question_is_sent_when_the_server_is_back(chat: ChatPage, server: Server) -> None:
    chat.ready().page.evaluate(PATIENT)
    server.kill()
    chat.ask("Are you there?")
    expect(chat.page.get_by_text("Not sent yet. Retrying…")).to_be_visible()
    server.start()
    assert chat.ended() == "You said: Are you there?"
    assert count_questions(server, "Are you there?") == 1


def test_a_question_with_a_lost_response_is_stored_once(chat: ChatPage, server: Server) -> None:
    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    chat.page.route(SENT, lose, times=1)
    assert chat.asked("Was I heard?") == "You said: Was I heard?"
    assert count_questions(server, "Was I heard?") == 1


def test_an_unsent_question_is_in_the_box_after_a_reload(chat: ChatPage, server: Server) -> None:
    chat.page.route(SENT, lambda route: None)
    chat.ask("Hold on")
    expect(chat.box).to_have_value("")
    chat.page.reload()
    expect(chat.box).to_have_value("Hold on")
    chat.page.unroute_all()
    chat.box.press("Enter")
    assert chat.ended() == "You said: Hold on"
    assert count_questions(server, "Hold on") == 1


def test_a_broken_connection_is_resumed_where_it_was(window: Window, network: Network) -> None:
    chat = ChatPage.open(window, network)
    chat.ask(question("words tokens=250 delay=0.02"))
    chat.grown_to(60)
    network.cut()
    expect(chat.page.get_by_text("Connection lost. Reconnecting…")).to_be_visible()
    network.mend()
    assert chat.ended() == words(250)


def test_a_connection_that_fell_silent_is_given_up_and_resumed(window: Window, network: Network) -> None:
    page = window(network, "alice")
    page.clock.install()
    page.goto("/")
    chat = ChatPage(page)
    chat.ask(question("words tokens=250 delay=0.02"))
    chat.grown_to(60)
    network.silence()
    page.clock.fast_forward(41_000)  # the server says something every 15 s
    expect(page.get_by_text("Connection lost. Reconnecting…")).to_be_visible()
    network.mend()
    assert chat.ended() == words(250)


@pytest.mark.parametrize("path", ["chat", "/search/?q=diagnosis", "/settings/instructions/"])
def test_a_sign_out_in_one_tab_shows_the_login_in_all(window: Window, server: Server, path: str) -> None:
    chat = ChatPage.open(window, server, "")
    sign_in(chat.page, "bob")
    chat.asked("My diagnosis")
    other = chat.page.context.new_page()
    other.goto(chat.page.url if path == "chat" else f"{server.url}{path}")
    expect(other.get_by_text("diagnosis").first).to_be_attached()
    other.wait_for_function(LISTENS)
    chat.page.get_by_role("button", name=re.compile("Account")).click()
    chat.page.get_by_role("menuitem", name="Sign out").click()
    expect(other).to_have_url(re.compile("/accounts/login/"))
    assert other.evaluate("Object.keys(localStorage)") == ["signed-out"]  # a time alone


def test_a_page_that_comes_back_from_the_browsers_cache_goes_on(window: Window, server: Server) -> None:
    page = window(server, "alice")
    # Not the first page of a new browser: that one sets this cookie, and is not kept for that.
    page.context.add_cookies([{"name": "tz", "value": "UTC", "url": server.url}])
    page.goto("/")
    chat = ChatPage(page)
    chat.page.evaluate("addEventListener('pageshow', ({persisted}) => { window.kept = persisted; })")
    chat.ask(question("words tokens=100 delay=0.02"))
    chat.grown_to(60)
    chat.page.goto("/healthz")
    chat.page.go_back(wait_until="commit")  # there is no load: the page was never away
    chat.page.wait_for_function("() => window.kept")
    assert chat.ended() == words(100)
