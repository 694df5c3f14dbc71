"""Files in a question: where they are dropped, where they stand, and the dialog of a picture."""

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.axe import findings
from tests.e2e.chat_page import Window
from tests.e2e.files_page import BLIND, DRAWING, PHOTO, Pictures
from tests.files import pictures
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


def test_files_that_are_dragged_show_where_they_can_be_dropped(chat: Pictures) -> None:
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
    chat.asked("What is this?")
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
    expect(chat.tray.get_by_text("because “Everyday” can’t see pictures.")).to_be_in_viewport()
    assert chat.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    chat.tray.get_by_role("button", name="Remove cat.jpg").click()
    expect(chat.added).to_have_count(1)
    assert findings(chat.page) == []


SHOT = {"name": "shot.png", "mimeType": "image/png", "buffer": pictures.png(600, 2_000, (20, 120, 200))}


def test_a_click_beside_the_dialog_saves_the_description(chat: Pictures) -> None:
    chat.add(PHOTO)
    chat.tray.get_by_role("button", name="Add a description: cat.jpg").click()
    field = chat.dialog.get_by_label("Description")
    field.fill("A cat on a mat")
    # A selection that ends beside the dialog is no click there.
    field.hover()
    chat.page.mouse.down()
    chat.page.mouse.move(5, 5)
    chat.page.mouse.up()
    expect(chat.dialog).to_be_visible()
    chat.page.mouse.click(5, 5)
    expect(chat.dialog).to_be_hidden()
    expect(chat.tray).to_contain_text("A cat on a mat")
    chat.tray.get_by_role("button", name="Add a description: A cat on a mat").click()
    expect(field).to_have_value("A cat on a mat")
    field.fill("A dog")
    chat.dialog.get_by_role("button", name="Close").click()
    expect(chat.tray).to_contain_text("A cat on a mat")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844), (844, 390)])
def test_a_tall_picture_opens_as_wide_as_can_be_read_and_scrolls(
    window: Window, server: Server, width: int, height: int
) -> None:
    chat = Pictures.seeing(window, server)
    chat.page.set_viewport_size({"width": width, "height": height})
    chat.add(SHOT)
    chat.tray.get_by_role("button", name="Add a description: shot.png").click()
    is_legible(chat)
    chat.page.keyboard.press("Escape")
    chat.asked("Well?")
    chat.page.get_by_role("link", name="shot.png").click()
    is_legible(chat)
    chat.dialog.locator(".picture-frame").press("End")
    chat.page.wait_for_function("() => document.querySelector('.picture-frame').scrollTop > 500")
    expect(chat.dialog.get_by_role("button", name="Close")).to_be_in_viewport(ratio=1)
    assert findings(chat.page) == []


def is_legible(chat: Pictures) -> None:
    image = chat.dialog.locator("img").bounding_box()
    window = chat.page.viewport_size
    assert image
    assert window
    assert image["width"] >= min(600, window["width"] - 80)
    assert chat.dialog.evaluate("(it) => it.scrollWidth <= it.clientWidth")
