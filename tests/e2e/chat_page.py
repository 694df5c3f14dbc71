"""The chat page as somebody uses it."""

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from playwright.sync_api import Locator, Page, expect

from tests.e2e.network import Network
from tests.support.server import Server
from tests.support.waiting import until

ADDRESS = re.compile(r"/c/[0-9a-f-]{36}/(\?live(#m-[0-9a-f-]{36})?)?$")  # the rest where no script runs
GROWN = "([length, n]) => [...document.querySelectorAll('article.reply [data-part=text]')].at(n)"
STATE = "**/state/"  # what an open page asks for, to learn what was done elsewhere
STORED = 15.0  # seconds; these machines are busy
DOUBLE_TAP_MILLISECONDS = 350  # composer.js: a tap that comes sooner is the second half of a double tap
# background.js marks it, with which the page loads what sends once something is typed or pointed at.
READY = ".account-button[aria-haspopup=menu]"
Window = Callable[..., Page]
MAY_COPY = {"permissions": ["clipboard-read", "clipboard-write"]}
WHY = "What was wrong? (optional, reviewers can read it)"


def question(scenario: str, text: str = "Tell me something.") -> str:
    """Return a question for which the fake behind the server plays `scenario`."""
    return f"{text}\nfake: {scenario}"


class ChatPage:
    """One tab. Texts are what a reader sees, never the markup."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.box = page.get_by_role("textbox", name="Your message", exact=True)
        self.notice = page.locator("#notice")
        self.questions = page.locator("article.question")
        self.replies = page.locator("article.reply")
        self.reply = self.replies.last
        self.stop = page.get_by_role("button", name="Stop", exact=True)
        self.send = page.get_by_role("button", name="Send", exact=True)
        self.jump = page.get_by_role("button", name="Jump to latest")

    @classmethod
    def open(cls, window: Window, server: Server | Network, name: str = "alice", **options: object) -> Self:
        """A new conversation in a window of its own."""
        page = window(server, name, at="/", **options)
        return cls(page)

    def ask(self, text: str) -> None:
        self.box.fill(text)
        expect(self.page.locator(READY)).to_be_attached()
        if self.page.evaluate("matchMedia('(pointer: coarse)').matches"):
            self.send.tap()
        else:
            self.box.press("Enter")

    def ready(self) -> Self:
        """Wait for what the page loads before the first key: it sends without a server from then on."""
        self.page.mouse.move(5, 5)
        expect(self.page.locator(READY)).to_be_attached()
        return self

    def another_tab(self) -> "ChatPage":
        """The same address in a second tab of the same browser."""
        tab = self.page.context.new_page()
        tab.goto(self.page.url)
        return ChatPage(tab)

    @contextmanager
    def unaware(self) -> Iterator[None]:
        """Block this page's requests for changes made elsewhere."""
        self.page.route(STATE, lambda route: route.abort())
        yield
        self.page.unroute(STATE)

    @property
    def text(self) -> str:
        """The text of the last reply so far."""
        return text_of(self.reply)

    def grown_to(self, length: int) -> str:
        """The last reply's text as soon as it has that many characters."""
        self.page.wait_for_function(f"{GROWN}?.textContent.length >= length", arg=[length, -1])
        return self.text

    def stored(self, server: Server, length: int) -> None:
        """Wait until so much of the last reply's text would outlive the server: it is behind the screen."""
        run = uuid.UUID(str(self.reply.get_attribute("data-run"))).hex
        sql = f"SELECT coalesce(sum(length(text)), 0) FROM chat_runchunk WHERE run_id = '{run}'"
        until(lambda: server.database.value(sql) >= length, STORED)

    def ended(self, status: str = "complete") -> str:
        """The last reply's text once its page says that it ended so."""
        expect(self.reply).to_have_attribute("data-status", status)
        return self.text

    def asked(self, text: str, status: str = "complete") -> str:
        self.ask(text)
        return self.ended(status)

    def has_address(self) -> None:
        expect(self.page).to_have_url(ADDRESS)


def account_item(page: Page, name: str) -> Locator:
    """Open the menu of the account, in which this stands; without scripts it holds plain links."""
    page.get_by_role("button", name="Account:").click()
    return page.locator("#account").get_by_text(name, exact=True)


def menu_item(page: Page, name: str) -> Locator:
    """Open the menu of the conversation, in which this stands."""
    page.get_by_role("button", name="More", exact=True).click()
    return page.locator("#menu").get_by_text(name, exact=True)


def open_instructions(page: Page) -> Locator:
    """Open the instructions and model settings of the conversation, all unfolded."""
    menu_item(page, "Instructions and model settings").click()
    dialog = page.get_by_role("dialog", name="Instructions and model settings")
    expect(dialog).to_be_visible()
    if not dialog.locator("details").evaluate("details => details.open"):
        dialog.locator("summary").click()
    return dialog


def text_of(article: Locator) -> str:
    return article.locator("[data-part=text]").text_content() or ""


def box(element: Locator) -> dict[str, float]:
    found = element.bounding_box()
    assert found
    return found


def words(count: int) -> str:
    """Return the words that the fake writes for `tokens=count`."""
    return " ".join(f"word{n}" for n in range(1, count + 1))
