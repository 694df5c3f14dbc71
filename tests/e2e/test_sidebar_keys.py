"""The list of conversations by keyboard, and what a press on a link of the sidebar shows at once."""

import re

from playwright.sync_api import Page, expect

from tests.e2e import seed
from tests.e2e.chat_page import ChatPage, Window
from tests.support.server import Server

STOPS = "#conversations :is(a, button):not([tabindex='-1'])"
FOCUSED = "document.activeElement.textContent.trim()"


def tab_to_the_list(page: Page) -> None:
    page.get_by_role("link", name="Search").focus()
    expect(page.locator(STOPS)).to_have_count(1)
    for _ in range(4):
        if page.evaluate("document.activeElement.closest('#conversations') !== null"):
            return
        page.keyboard.press("Tab")


def test_the_list_is_one_tab_stop_and_arrows_move_in_it(window: Window, server: Server) -> None:
    seed.conversations(server.database, "bob", ["First", "Second", "Third"])
    page = ChatPage.open(window, server, "bob", width=1280).page
    titles = page.locator("#conversations li > a").all_text_contents()
    tab_to_the_list(page)
    assert page.evaluate(FOCUSED) == titles[0]
    for key, at in {"ArrowDown": 1, "End": -1, "ArrowUp": -2, "Home": 0}.items():
        page.keyboard.press(key)
        assert page.evaluate(FOCUSED) == titles[at]
    page.keyboard.press("ArrowRight")
    options = page.get_by_role("button", name=f"Options for {titles[0]}")
    expect(options).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Rename")).to_be_focused()
    page.keyboard.press("Escape")
    expect(options).to_be_focused()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(FOCUSED) == titles[0]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#conversations')") is None
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(FOCUSED) == titles[1]
    page.keyboard.press("F2")
    field = page.get_by_role("textbox", name="Title of this chat")
    field.press("Home")
    field.press_sequentially("Re")
    field.press("Enter")
    expect(page.get_by_role("link", name=f"Re{titles[1]}")).to_be_focused()
    expect(page.locator(STOPS)).to_have_count(1)


def test_a_skip_link_leads_to_the_latest_reply(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=1280)
    chat.asked("one")
    chat.has_address()
    chat.page.reload()
    chat.ready()
    chat.asked("two")
    chat.page.get_by_role("link", name="Skip to the latest reply").focus()
    chat.page.keyboard.press("Enter")
    expect(chat.replies.last).to_be_focused()
    expect(chat.replies.last).to_contain_text("two")


def test_a_press_shows_at_once_while_the_page_is_on_its_way(window: Window, server: Server) -> None:
    (address,) = seed.conversations(server.database, "carol", ["Three days in Lisbon"])
    page = ChatPage.open(window, server, "carol", width=1280).page
    # In the click itself: Playwright would wait for the page that is on its way.
    page.evaluate("""addEventListener('click', () => {
        const { blockSize } = getComputedStyle(document.querySelector('.topbar'), '::after');
        const { textContent } = document.querySelector('[data-opening] [data-opening]');
        sessionStorage.shown = `${textContent}, ${blockSize}`;
    })""")
    page.get_by_role("link", name="Three days in Lisbon", exact=True).click()
    expect(page).to_have_url(re.compile(address))
    assert page.evaluate("sessionStorage.shown") == "Three days in Lisbon, 2px"
    expect(page.locator("[data-opening]")).to_have_count(0)
    page.go_back()
    expect(page.locator("[data-opening]")).to_have_count(0)


def test_a_long_title_has_two_lines_and_a_tooltip_for_the_rest(window: Window, server: Server) -> None:
    seed.conversations(server.database, "carol", ["Where to stay for three days in Lisbon", "word " * 16])
    page = ChatPage.open(window, server, "carol", width=1280).page
    whole = page.get_by_role("link", name="Where to stay for three days in Lisbon", exact=True)
    assert whole.evaluate("link => link.scrollHeight <= link.clientHeight + 1")
    cut = page.locator("#sidebar").get_by_role("link", name="word word")
    before = cut.bounding_box()
    whole.hover()
    expect(page.locator(STOPS)).to_have_count(1)  # the module that measures it is there
    cut.hover()
    expect(cut).to_have_attribute("title", re.compile("^word word"))
    assert cut.bounding_box() == before
    whole.hover()
    expect(whole).not_to_have_attribute("title", re.compile("."))
