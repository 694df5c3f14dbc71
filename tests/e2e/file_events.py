"""Files that are dropped and pasted. Playwright can do neither: the page gets the events of a browser."""

import base64
from collections.abc import Collection
from typing import Any

from playwright.sync_api import Page

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
