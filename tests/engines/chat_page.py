"""The chat page as somebody uses it, in any browser."""

from tests.engines.browser import Browser
from tests.support.server import Server

TEXTS = "Array.from(document.querySelectorAll('article [data-part=text]'), (text) => text.textContent.trim())"
STATUS = "Array.from(document.querySelectorAll('article[data-status]')).at(-1)?.dataset.status"
BOX = ("textbox", "Your message")


class ChatPage:
    def __init__(self, browser: Browser, server: Server) -> None:
        self.browser = browser
        self.server = server

    def goto(self, path: str = "/") -> None:
        self.browser.goto(f"{self.server.url}{path}")

    @property
    def path(self) -> str:
        return self.browser.evaluate("location.pathname")

    @property
    def texts(self) -> list[str]:
        """Return the texts of all messages, oldest first."""
        return self.browser.evaluate(TEXTS)

    @property
    def status(self) -> str:
        """The state of the last reply."""
        return self.browser.evaluate(STATUS)

    @property
    def draft(self) -> str:
        return self.browser.evaluate("find(...args).value", *BOX)

    def write(self, text: str) -> None:
        self.browser.click(*BOX)
        for n, line in enumerate(text.split("\n")):
            if n:
                self.browser.press("Shift", "Enter")
            self.browser.type(line)

    def ask(self, text: str) -> None:
        self.write(text)
        self.browser.press("Enter")

    def grown_to(self, length: int) -> str:
        """The last text as soon as it has so many characters."""
        return self.browser.wait_until(f"((text) => text?.length >= args[0] && text)({TEXTS}.at(-1))", length)

    def ended(self, status: str = "complete") -> str:
        """The last text once its page says that it ended so."""
        self.browser.wait_until(f"{STATUS} === args[0]", status)
        return self.texts[-1]

    def says(self, text: str) -> None:
        self.browser.wait_until("document.body.innerText.includes(args[0])", text)
