"""Pictures in Firefox and in WebKit: chosen, pasted, sent, and seen again after a reload."""

import base64
from pathlib import Path

from tests.engines.chat_page import ChatPage
from tests.files import pictures

SEEING = "Gemma 4 26B A4B"
# A WebDriver has no way to the clipboard: the page gets the event that a paste would send it.
PASTE = """((content) => {
  const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File([bytes], 'plan.png', { type: 'image/png' }));
  const paste = new ClipboardEvent('paste', { bubbles: true, cancelable: true });
  // Firefox ignores it in the constructor.
  Object.defineProperty(paste, 'clipboardData', { value: clipboardData });
  return !document.getElementById('content').dispatchEvent(paste);
})(args[0])"""
LISTENS = "performance.getEntriesByType('resource').some(({ name }) => name.includes('background'))"
SHOWN = """((images) => images.length === args[1] && images.every(({ naturalWidth }) => naturalWidth > 0))(
  Array.from(document.querySelectorAll(args[0])))"""
TRAY, SENT = "#composer .tray img[src]", "article.question .pictures img"


def test_a_picture_is_chosen_pasted_sent_and_kept(chat: ChatPage, tmp_path: Path) -> None:
    photo = tmp_path / "cat.jpg"
    photo.write_bytes(pictures.jpeg(640, 480))
    chat.browser.click("button", "Model:")
    chat.browser.click("button", "All models")
    chat.browser.click("radio", SEEING)
    chat.browser.misses("dialog", "Choose a model")
    chat.browser.choose_files("#files", photo)
    chat.browser.wait_until(SHOWN, TRAY, 1)
    chat.browser.wait_until(LISTENS)
    chat.browser.wait_until(PASTE, base64.b64encode(pictures.png(300, 900)).decode())
    chat.browser.wait_until(SHOWN, TRAY, 2)
    chat.browser.click("button", "Add a description: cat.jpg")
    chat.browser.holds("textbox", "Description")
    chat.browser.type("A cat on a mat")
    chat.browser.click("button", "Save")
    chat.browser.sees("button", "Add a description: A cat on a mat")
    chat.ask("What is this?")
    assert chat.ended() == "You said: What is this? I see 2 picture(s)."
    for _again in range(2):
        chat.browser.wait_until(SHOWN, SENT, 2)
        assert chat.browser.evaluate("document.querySelector(args[0]).alt", SENT) == "A cat on a mat"
        chat.browser.reload()
