"""Control of a browser over the WebDriver protocols that Firefox and WebKit speak.

Playwright would drive its own builds of these two. These tests drive the ones that Debian ships.
"""

import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

PATIENCE = 20.0  # seconds; these machines are busy
BETWEEN_LOOKS = 0.03  # seconds
SCRIPTS = Path(__file__).with_name("elements.js").read_text("utf-8")
# https://www.w3.org/TR/webdriver2/#keyboard-actions
KEYS = {
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Shift": "\ue008",
    "Control": "\ue009",
    "Escape": "\ue00c",
    "ArrowUp": "\ue013",
    "ArrowDown": "\ue015",
}


class BrowserError(Exception):
    """The browser refused a command, for example because the page has just gone."""


class Browser(ABC):
    """One window, whose cookies and storage no other window has."""

    @abstractmethod
    def goto(self, url: str) -> None:
        """Open an address and wait for its load event."""

    @abstractmethod
    def reload(self) -> None:
        """Load the page again and wait for its load event."""

    @abstractmethod
    def call(self, function: str, *args: Any) -> Any:
        """Return the result of a JavaScript function, as JSON."""

    @abstractmethod
    def perform(self, sources: list[dict[str, Any]]) -> None:
        """Real input, in the form that both protocols share: https://www.w3.org/TR/webdriver2/#actions."""

    @abstractmethod
    def choose_files(self, selector: str, *paths: Path) -> None:
        """Choose files in a file input, as its dialog would."""

    @abstractmethod
    def resize(self, width: int, height: int) -> None:
        """Give the page this size in CSS pixels."""

    @abstractmethod
    def screenshot(self) -> bytes:
        """A PNG of what is in view."""

    @abstractmethod
    def set_cookie(self, url: str, name: str, value: str) -> None:
        """A cookie for this host, as if it had set it."""

    @abstractmethod
    def errors(self) -> list[str]:
        """The errors of the console since the window was opened."""

    @abstractmethod
    def close(self) -> None:
        """Close the window and forget its cookies and its storage."""

    def evaluate(self, expression: str, *args: Any) -> Any:
        """An expression's value; it may use `args` and the functions of elements.js."""
        return self.call(f"(...args) => {{ {SCRIPTS}; return ({expression}); }}", *args)

    def wait_until(self, expression: str, *args: Any, patience: float = PATIENCE) -> Any:
        """The expression's value as soon as it is true."""
        give_up = time.monotonic() + patience
        problem: object = "it is not true"
        while time.monotonic() < give_up:
            try:
                if found := self.evaluate(expression, *args):
                    return found
            except BrowserError as error:
                problem = error
            time.sleep(BETWEEN_LOOKS)
        raise AssertionError(f"{expression} {args}: {problem}\n{self.evaluate('document.body.innerText')}")

    def sees(self, role: str, name: str) -> None:
        self.wait_until("Boolean(find(...args))", role, name)

    def misses(self, role: str, name: str) -> None:
        self.wait_until("!find(...args)", role, name)

    def holds(self, role: str, name: str) -> None:
        """Wait until the focus is there."""
        self.wait_until("find(...args) === document.activeElement", role, name)

    def hover(self, role: str, name: str) -> None:
        self.perform([pointer(self._place(role, name))])

    def click(self, role: str, name: str) -> None:
        """Press the middle of an element, once it stands still and nothing covers it."""
        self.perform([pointer(self._place(role, name), pressed=True)])

    def _place(self, role: str, name: str) -> list[int]:
        """The same place in two looks: the element does not move."""
        before, now = None, self.wait_until("place(find(...args))", role, name)
        while before != now:
            before, now = now, self.wait_until("place(find(...args))", role, name)
        return now

    def type(self, text: str) -> None:
        """Write where the focus is."""
        self.perform([keys(*text)])

    def press(self, *names: str) -> None:
        """One key, or several held together: `press("Shift", "Enter")`."""
        held = [KEYS.get(name, name) for name in names]
        downs = [{"type": "keyDown", "value": key} for key in held]
        ups = [{"type": "keyUp", "value": key} for key in reversed(held)]
        self.perform([{"type": "key", "id": "keyboard", "actions": [*downs, *ups]}])


def keys(*values: str) -> dict[str, Any]:
    """Each key down and up, one after the other."""
    strokes = [{"type": kind, "value": value} for value in values for kind in ("keyDown", "keyUp")]
    return {"type": "key", "id": "keyboard", "actions": strokes}


def pointer(place: list[int], *, pressed: bool = False) -> dict[str, Any]:
    x, y = place
    moved = {"type": "pointerMove", "x": x, "y": y, "duration": 0}
    press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}] if pressed else []
    parameters = {"pointerType": "mouse"}
    return {"type": "pointer", "id": "mouse", "parameters": parameters, "actions": [moved, *press]}
