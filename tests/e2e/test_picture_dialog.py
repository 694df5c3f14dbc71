"""The dialog that shows a picture and takes its description."""

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import findings
from tests.e2e.chat_page import Window
from tests.e2e.pictures_page import PHOTO, Pictures
from tests.files import pictures
from tests.support.server import Server

SHOT = {"name": "shot.png", "mimeType": "image/png", "buffer": pictures.png(600, 2_000, (20, 120, 200))}


@pytest.fixture
def chat(window: Window, server: Server) -> Pictures:
    return Pictures.seeing(window, server)


def test_a_click_beside_the_dialog_saves_the_description(chat: Pictures) -> None:
    chat.add(PHOTO)
    chat.tray.get_by_role("button", name="Describe cat.jpg").click()
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
    chat.tray.get_by_role("button", name="Describe A cat on a mat").click()
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
    chat.tray.get_by_role("button", name="Describe shot.png").click()
    is_legible(chat)
    chat.page.keyboard.press("Escape")
    chat.ask("Well?")
    chat.ended()
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
