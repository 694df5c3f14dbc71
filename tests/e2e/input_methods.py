"""The ways in which people press the buttons under a message: a mouse, a keyboard alone, a finger."""

from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.chat_page import ChatPage

MAX_TAB_STOPS = 80
HELD = "element => element === document.activeElement"
HELD_OR_GONE = "element => element.isConnected ? element === document.activeElement : null"


@dataclass(frozen=True)
class Way:
    name: str
    width: int

    @property
    def window(self) -> dict[str, Any]:
        """Return the arguments to open the window with."""
        touch = {"has_touch": True, "is_mobile": True} if self.name == "finger" else {}
        return {"width": self.width, **touch}

    def press(self, button: Locator) -> None:
        """Press a button: with a mouse, a finger, or the Tab and Enter keys alone."""
        if self.name == "keyboard":
            reach(button)
            button.page.keyboard.press("Enter")
        elif self.name == "finger":
            question = button.locator(
                "xpath=ancestor::article[contains(@class, 'question')]/div[@data-part='text']"
            )
            if question.count() and question.is_visible():
                question.tap()  # what can be done with it shows then
            button.tap()
        else:
            button.click()


def reach(element: Locator, *keys: str) -> None:
    """Tab backwards until the focus is there: what one does from the message box. `keys`: try these instead.

    Look the element up once, and again if the page has replaced it: that takes longer than a key.
    """
    handle = element.element_handle()
    for key in keys or ("Shift+Tab",):
        for _ in range(MAX_TAB_STOPS):
            while (held := handle.evaluate(HELD_OR_GONE)) is None:
                handle = element.element_handle()
            if held:
                return
            element.page.keyboard.press(key)
    raise AssertionError(f"{element} cannot be reached by Tab")


MOUSE, KEYBOARD, FINGER = Way("mouse", 1280), Way("keyboard", 1280), Way("finger", 390)
NARROW = Way("keyboard", 390)


def by(*ways: Way) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("way", ways, ids=lambda way: f"{way.name}-{way.width}")


# Other tests press such controls with a mouse, on a page as wide as the keyboard's.
MOUSE_ELSEWHERE = by(KEYBOARD, FINGER)
# For what stands in the list of conversations, which a narrow page has in a drawer.
IN_DRAWER_TOO = by(KEYBOARD, FINGER, NARROW)


def named(article: Locator, name: str) -> Locator:
    """A button of a message, by what a screen reader calls it."""
    return article.get_by_role("button", name=name, exact=True)


def walks(article: Locator, index: int, count: int) -> None:
    """The article says which of its versions it is."""
    expect(article.get_by_role("group", name=f"Version {index} of {count}")).to_be_visible()


def markup(article: Locator) -> str:
    """A reply's blocks as they stand in the page, without the buttons that the client adds to them."""
    return str(
        article.locator("[data-part=text]").evaluate(
            "element => { const copy = element.cloneNode(true);"
            " for (const added of copy.querySelectorAll('.code-actions')) added.remove();"
            " return copy.innerHTML }"
        )
    )


def delete(chat: ChatPage) -> None:
    """Delete the conversation, as another tab would."""
    token = chat.page.evaluate("document.querySelector('[name=csrfmiddlewaretoken]').value")
    address = chat.page.url.partition("#")[0]
    headers = {"X-CSRFToken": token, "Referer": address}
    response = chat.page.request.post(f"{address}delete/", headers=headers, max_redirects=0)
    assert response.status < 400
