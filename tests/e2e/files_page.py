"""The chat page with files in its message box; files that are dropped and pasted."""

import base64
from collections.abc import Collection
from typing import Any, Self

from playwright.sync_api import Page, expect

from tests.e2e.chat_page import ChatPage, Window
from tests.files import pictures
from tests.support.server import Server

SEEING, BLIND = "Gemma 4 26B A4B", "GLM 4.7 Flash"
PHOTO = {"name": "cat.jpg", "mimeType": "image/jpeg", "buffer": pictures.jpeg(640, 480)}
DRAWING = {"name": "plan.png", "mimeType": "image/png", "buffer": pictures.png(300, 900, (20, 120, 200))}


class Pictures(ChatPage):
    """A chat page with the pictures of its message box."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.input = page.locator("#files")
        self.tray = page.locator("#composer .tray")
        self.added = self.tray.locator("img[src]")
        self.sent = page.locator("article.question .pictures img")
        self.dialog = page.get_by_role("dialog").filter(has=page.locator("img"))

    @classmethod
    def seeing(cls, window: Window, server: Server, **options: object) -> Self:
        """A new conversation with a model that sees."""
        chat = cls.open(window, server, **options)
        chat.choose(SEEING)
        return chat

    def choose(self, model: str) -> None:
        self.page.evaluate(
            """(name) => {
              const select = document.getElementById('model');
              select.value = [...select.options].find(({ text }) => text === name).value;
              select.dispatchEvent(new Event('change', { bubbles: true }));
            }""",
            model,
        )

    def add(self, *files: object) -> None:
        before = self.added.count()
        self.input.set_input_files(list(files))  # type: ignore[arg-type]
        expect(self.added).to_have_count(before + len(files))

    def describe(self, description: str) -> None:
        """Describe the first picture that is added."""
        self.tray.locator("[data-do=open]").first.click()
        self.dialog.get_by_label("Description").fill(description)
        self.dialog.get_by_role("button", name="Save").click()

    def fire(self, kind: str, content: bytes = PHOTO["buffer"], *texts: str, at: str = "#content") -> bool:
        """Return whether the page has taken the event from the browser."""
        return fire(self.page, kind, {**PHOTO, "buffer": content}, texts=texts, at=at)


# Playwright can neither drop nor paste files: the page gets the events of a browser.
SEND = """([type, target, file, content, texts]) => {
  const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], file.name, { type: file.mimeType }));
  for (const text of texts) transfer.setData('text/plain', text);
  const name = type === 'paste' ? 'clipboardData' : 'dataTransfer';
  const event = new (type === 'paste' ? ClipboardEvent : DragEvent)(type, {
    bubbles: true, cancelable: true, [name]: transfer,
  });
  return !document.querySelector(target).dispatchEvent(event);
}"""


def fire(
    page: Page, kind: str, file: dict[str, Any], *, texts: Collection[str] = (), at: str = "#content"
) -> bool:
    """Return whether the page has taken the event from the browser.

    `file` is in the form of `set_input_files`, `kind` the event's type, `at` the selector of its target.
    """
    named = {"name": file["name"], "mimeType": file["mimeType"]}
    content = base64.b64encode(file["buffer"]).decode()
    return bool(page.evaluate(SEND, [kind, at, named, content, list(texts)]))
