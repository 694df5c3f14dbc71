"""The places where files are dropped, and where they stand on a low screen."""

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.axe import findings
from tests.e2e.chat_page import Window
from tests.e2e.pictures_page import BLIND, DRAWING, PHOTO, Pictures
from tests.support.server import Server

DRAG_TEXT = """() => {
  const dataTransfer = new DataTransfer();
  dataTransfer.setData('text/plain', 'some words');
  for (const type of ['dragenter', 'dragover']) {
    document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
  }
}"""


DRAG_ON = """(target) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File(['words'], 'notes.txt'));
  const fire = (type) => document.querySelector(target).dispatchEvent(
    new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer })
  );
  window.drag = () => { window.dragging = setInterval(() => fire('dragover'), 100); };
  fire('dragenter');
  window.drag();
}"""
DRAG_OVER = "drag()"
DRAG_NO_MORE = "clearInterval(window.dragging)"


@pytest.fixture
def chat(window: Window, server: Server) -> Pictures:
    return Pictures.seeing(window, server)


def drag(chat: Pictures, *, at: str = "#thread") -> Locator:
    """Drag a file there, as a browser tells a page, until `DRAG_NO_MORE`. Return the hint, which is shown."""
    hint = chat.page.locator(".drop-hint")
    chat.page.evaluate(DRAG_ON, at)
    expect(hint).to_have_text("Drop files here to add them")
    return hint


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_files_that_are_dragged_show_where_they_can_be_dropped(chat: Pictures, scheme: str) -> None:
    chat.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    chat.ready()
    chat.page.evaluate(DRAG_TEXT)
    chat.page.wait_for_timeout(300)
    expect(chat.page.locator(".drop-hint")).to_have_count(0)
    chat.box.press_sequentially("We")
    hint = drag(chat)
    chat.page.evaluate(DRAG_NO_MORE)
    expect(hint).to_have_count(0)
    chat.page.evaluate(DRAG_OVER)  # as after a pause in which the page was too busy for the events
    expect(hint).to_be_visible()
    assert findings(chat.page) == []
    composer, shown = chat.page.locator("#composer").bounding_box(), hint.bounding_box()
    assert composer
    assert shown == composer
    chat.box.press_sequentially("ll?")  # the box keeps the focus
    expect(chat.box).to_have_value("Well?")
    chat.page.evaluate(DRAG_NO_MORE)  # without any other event
    expect(hint).to_have_count(0)
    for end in ("dragleave", "escape", "drop"):
        drag(chat)
        chat.page.evaluate(DRAG_NO_MORE)
        if end == "escape":
            chat.page.keyboard.press("Escape")
        else:
            chat.fire(end, at="#thread")
        expect(hint).to_have_count(0)
    expect(chat.added).to_have_count(1)
    chat.ask("What is this?")
    chat.ended()
    chat.questions.get_by_role("button", name="Edit", exact=True).click()
    chat.page.locator(".edit textarea").wait_for()
    drag(chat, at=".edit textarea")
    expect(chat.page.locator(".edit > .drop-hint")).to_have_count(1)


@pytest.mark.parametrize(("width", "height"), [(844, 390), (640, 400)])
def test_the_tray_is_one_line_on_a_low_screen(
    window: Window, server: Server, width: int, height: int
) -> None:
    chat = Pictures.open(window, server)
    chat.page.set_viewport_size({"width": width, "height": height})
    chat.choose(BLIND)
    notes = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"Buy milk."}
    chat.input.set_input_files([PHOTO, DRAWING, notes])  # type: ignore[list-item]
    expect(chat.added).to_have_count(2)
    expect(chat.tray.get_by_role("link", name="View text of notes.txt")).to_be_visible()
    tray, dock = chat.tray.bounding_box(), chat.page.locator(".composer-dock").bounding_box()
    topbar = chat.page.locator(".topbar").bounding_box()
    assert tray
    assert dock
    assert topbar
    assert tray["height"] <= 48
    assert dock["y"] - topbar["y"] - topbar["height"] >= height * 0.45  # of the thread
    expect(chat.box).to_be_in_viewport(ratio=1)
    expect(chat.tray.get_by_text(f"{BLIND} can’t see pictures.")).to_be_in_viewport()
    assert chat.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    chat.tray.get_by_role("button", name="Remove cat.jpg").click()
    expect(chat.added).to_have_count(1)
    assert findings(chat.page) == []
