"""Search and shared pages, in Firefox and in WebKit."""

from collections.abc import Callable
from urllib.parse import urlsplit

from tests.engines.chat_page import ChatPage
from tests.engines.conftest import PHONE
from tests.engines.firefox import Firefox
from tests.engines.webkit import WebKit
from tests.support.server import Server

Window = Callable[..., ChatPage]
Engine = Firefox | WebKit
FIELD = ("searchbox", "Search your chats")
# Set by the module that listens to the keys, after it has begun to.
KEYS_HEARD = "document.querySelector('.account-button').getAttribute('aria-haspopup') === 'menu'"
CHOSEN = "document.querySelector('#search [aria-selected=true] mark')?.textContent"
AT_MESSAGE = "location.search.startsWith('?at=') && location.hash.startsWith('#m-')"


def finds(chat: ChatPage) -> None:
    """Look for the word in the dialog, which is open, and open the first hit in a message."""
    chat.browser.holds(*FIELD)
    chat.browser.type("quokk")
    chat.browser.sees("option", "A quokka smiles")
    chat.browser.wait_until("document.querySelectorAll('#search [role=option]').length === 2")
    chat.browser.press("ArrowDown")
    chat.browser.wait_until(f"{CHOSEN} === 'quokka'")
    chat.browser.press("Enter")
    chat.browser.wait_until(AT_MESSAGE)
    chat.browser.wait_until("isInView(document.getElementById(location.hash.slice(1)))")


def test_keys_open_the_search_and_a_hit_opens_at_its_message(chat: ChatPage) -> None:
    chat.ask("A quokka smiles")
    chat.ended()
    chat.goto()
    chat.browser.wait_until(KEYS_HEARD)
    chat.browser.press("Control", "k")
    finds(chat)


def test_the_link_opens_the_search_and_escape_closes_it(chat: ChatPage) -> None:
    chat.ask("A quokka smiles")
    chat.ended()
    chat.goto()
    chat.browser.click("link", "Search")
    chat.browser.holds(*FIELD)
    chat.browser.press("Escape")
    chat.browser.misses(*FIELD)
    chat.browser.click("link", "Search")
    finds(chat)


def test_the_menu_leads_to_a_new_link(chat: ChatPage) -> None:
    chat.ask("Why do boats float?")
    chat.ended()
    chat.browser.click("button", "Share")
    chat.browser.sees("heading", "Share this chat")
    chat.browser.click("button", "Create link")
    assert "/s/" in chat.browser.wait_until("document.querySelector('.share-links input')?.value")


def test_a_stranger_reads_a_shared_page(window: Window, engine: Engine, server: Server) -> None:
    alice = server.person("alice")
    reply = alice.asked("Why do boats float?").meta["message"]
    link = alice.post(f"/messages/{reply}/share/", {}).json()["url"]
    chat = window(engine, server, size=PHONE)
    chat.goto(urlsplit(link).path)
    chat.browser.sees("heading", "Why do boats float?")
    chat.says("You said: Why do boats float?")
    assert chat.browser.evaluate("[document.scripts.length, document.cookie]") == [0, ""]
    assert chat.browser.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
