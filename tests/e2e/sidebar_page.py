"""The parts around the thread: the sidebar, the header and their dialogs."""

import uuid
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Locator, Page, expect

from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.input_methods import HELD, Way, reach
from tests.support.databases import Database
from tests.support.server import Server

LISTED = "control => control.closest('#conversations') !== null"
HOLDS_FOCUS = "list => list.contains(document.activeElement)"
STOPS = ":is(a, button):not([tabindex='-1'])"


class Shell:
    """One tab, used in one way: with a mouse, with a keyboard alone, or with a finger."""

    def __init__(self, page: Page, way: Way) -> None:
        self.page = page
        self.way = way
        self.chat = ChatPage(page)
        self.sidebar = page.get_by_role("navigation", name="Chats")
        self.list = page.locator("#conversations")
        self.heading = page.locator("h1")
        self.title_box = page.get_by_role("textbox", name="Title of this chat")
        self.toast = page.locator("#toast")
        self.picker = page.get_by_role("dialog", name="Choose a model")
        self.instructions = page.get_by_role("dialog", name="Instructions and model settings")

    @classmethod
    def open(cls, window: Window, server: Server, way: Way, path: str = "/", name: str = "alice") -> "Shell":
        page = window(server, name, at=path, **way.window)
        return cls(page, way)

    @property
    def narrow(self) -> bool:
        return self.way.width < 832

    def show_list(self) -> None:
        """Open the drawer that has the list on a narrow page."""
        if self.narrow and not self.sidebar.is_visible():
            self.press(self.page.get_by_role("button", name="Chats", exact=True))
            expect(self.list).to_be_visible()

    def press(self, control: Locator) -> None:
        """Press a button in this way. With a keyboard, only elements that Tab reaches can be pressed."""
        if self.way.name == "finger":
            control.tap()
        elif self.way.name == "mouse":
            control.hover()
            control.click()
        else:
            self.reach(control)
            self.page.keyboard.press("Enter")

    def reach(self, control: Locator) -> None:
        """Get the focus there by Tab, and by the arrows in the list, which is one stop."""
        if not control.evaluate(LISTED):
            reach(control, "Shift+Tab", "Tab")
            return
        stop = self.list.locator(STOPS)
        if not self.list.evaluate(HOLDS_FOCUS):
            # Loads what the arrows do.
            reach(self.sidebar.get_by_role("link", name="Search"), "Shift+Tab", "Tab")
            expect(stop).to_have_count(1)
            reach(stop, "Tab")
        self.page.keyboard.press("Home")
        for _ in range(self.list.get_by_role("listitem").count()):
            if control.evaluate(HELD):
                break
            self.page.keyboard.press("ArrowDown")
        expect(control).to_be_focused()

    def open_instructions(self) -> None:
        """Open the dialog with the instructions and model settings of this conversation."""
        self.press(self.page.get_by_role("button", name="More", exact=True))
        self.press(self.page.get_by_role("button", name="Instructions and model settings"))

    def item(self, title: str) -> Locator:
        return self.list.get_by_role("listitem").filter(has_text=title)

    def titles(self) -> list[str]:
        return self.list.locator("li:visible > a").all_inner_texts()

    def do(self, what: str, title: str) -> None:
        """Choose from an item's options."""
        self.show_list()
        options = self.page.get_by_role("button", name=f"Options for {title}", exact=True)
        if self.way.name == "keyboard":
            self.reach(self.item(title).get_by_role("link"))
            self.page.keyboard.press("ArrowRight")
            expect(options).to_be_focused()
            self.page.keyboard.press("Enter")
        else:
            if self.way.name == "mouse":
                self.item(title).hover()
            self.press(options)
        option = self.page.get_by_role("menuitem", name=what)
        if self.way.name == "keyboard":
            expect(option).to_be_visible()
            for _ in range(self.page.get_by_role("menuitem").count()):
                if not option.evaluate(HELD):
                    self.page.keyboard.press("ArrowDown")
            expect(option).to_be_focused()
            self.page.keyboard.press("Enter")
        else:
            self.press(option)


def look(page: Page, *, hidden: bool) -> None:
    """Hide or show the tab by events. test_hidden_tab.py hides it in fact."""
    page.evaluate(
        "hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
        " document.dispatchEvent(new Event('visibilitychange')); }",
        hidden,
    )


def conversations(
    database: Database, name: str, titles: list[str], *, apart: timedelta = timedelta(hours=30)
) -> list[str]:
    """Conversations without a message, the first one now and each other so much older. Returns their ids."""
    user = database.value(f"SELECT id FROM chat_user WHERE username = '{name}'")
    made = []
    for number, title in enumerate(titles):
        key = uuid.uuid4()
        at = (datetime.now(UTC) - number * apart).strftime("%Y-%m-%d %H:%M:%S.%f")
        database.rows(
            "INSERT INTO chat_conversation "
            "(id, user_id, title, model, system, created, updated, last_seen) VALUES"
            f" ('{key.hex}', {user}, '{title}', '@cf/openai/gpt-oss-20b', '', '{at}', '{at}', '{at}')"
        )
        made.append(str(key))
    return made


def drop(database: Database, name: str) -> None:
    """Delete the conversations of this person, so that each test has a list of its own."""
    database.rows(
        "UPDATE chat_conversation SET deleted = updated WHERE user_id ="
        f" (SELECT id FROM chat_user WHERE username = '{name}')"
    )
