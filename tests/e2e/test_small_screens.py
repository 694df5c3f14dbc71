"""Small screens cut nothing off, in German, whose words are long; nor does a keyboard that covers them."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.page_observers import stands
from tests.e2e.sample_texts import essay
from tests.e2e.sidebar_page import conversations, drop
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

TITLE = "A recipe for twelve people, without milk, eggs and nuts, ready in one hour"
SAME_ROW = (
    "(buttons) => new Set(buttons.map((button) => Math.round(button.getBoundingClientRect().top))).size === 1"
)
CUT = "(elements) => elements.filter((it) => it.scrollWidth > it.clientWidth).map((it) => it.textContent)"
TOO_LONG = """(fields) => fields.filter((field) => {
  const probe = document.createElement('span');
  probe.style = 'position: absolute; white-space: nowrap; font-size: .8125rem';
  probe.textContent = field.placeholder;
  field.parentElement.append(probe);
  const { width } = probe.getBoundingClientRect();
  probe.remove();
  const { paddingLeft, paddingRight } = getComputedStyle(field);
  const buttons = 16; // Chromium's, which step the number
  return width > field.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - buttons;
}).map((field) => field.placeholder)"""
MIDDLE = "(it) => { const { top, height } = it.getBoundingClientRect(); return top + height / 2; }"

RESULT = {"url": "/c/x/", "title": TITLE, "message": None, "at": "2026-11-20T10:00:00Z"}
FOUND = {"results": [RESULT | {"snippet": TITLE, "marks": [[2, 8]]}], "next": None, "building": False}


@pytest.fixture
def page(window: Window, server: Server) -> Page:
    """A conversation on the narrowest phone."""
    drop(server.database, "alice")
    (address,) = conversations(server.database, "alice", [TITLE])
    opened = window(server, "alice", width=320, locale="de-DE", reduced_motion="reduce", has_touch=True)
    opened.goto(f"/c/{address}/")
    return opened


def test_save_and_cancel_stand_side_by_side(page: Page) -> None:
    page.locator("#menu-button").click()
    page.locator("#instructions").click()
    buttons = page.locator("#settings .foot .button")
    expect(buttons).to_have_count(2)
    expect(buttons.first).to_be_visible()
    assert buttons.evaluate_all(SAME_ROW)


def test_placeholders_are_shown_whole(page: Page) -> None:
    page.locator("#menu-button").click()
    page.locator("#instructions").click()
    page.locator("#settings summary").click()
    fields = page.locator("#settings input[type=number]")
    expect(fields.last).to_be_visible()
    assert fields.evaluate_all(TOO_LONG) == []


def test_the_shortcuts_open_at_their_beginning(page: Page) -> None:
    page.locator(".sidebar-toggle").click()
    page.locator(".account-button").click()
    page.locator("#account [data-opens=shortcuts]").click()
    dialog = page.get_by_role("dialog", name="Tastenkürzel")
    expect(dialog.get_by_role("button")).to_be_focused()
    assert dialog.evaluate("dialog => dialog.scrollTop") == 0
    expect(dialog.get_by_role("button")).to_be_in_viewport()


def test_no_section_of_the_settings_is_cut(page: Page) -> None:
    page.locator(".sidebar-toggle").click()
    page.locator("#sidebar [data-opens=preferences]").click()
    for place in (".settings-dialog", "#settings-page"):
        sections = page.locator(f"{place} .settings-sections a")
        expect(sections.last).to_be_visible()
        ends = sections.evaluate_all("all => all.map((each) => each.getBoundingClientRect().right)")
        assert len(ends) > 6
        assert max(ends) <= 320
        page.goto("/settings/")


def test_a_title_has_two_lines(page: Page) -> None:
    title = page.locator("#title")
    lines = title.evaluate("it => it.clientHeight / parseFloat(getComputedStyle(it).lineHeight)")
    assert 1.9 < lines < 2.6


def test_titles_of_results_are_not_cut(page: Page) -> None:
    page.locator(".sidebar-toggle").click()
    page.locator("#sidebar a.search-field").click()
    page.route("**/search/?q=*", lambda route: route.fulfill(json=FOUND))
    page.locator("#search input").fill("recipe")
    expect(page.locator(".search-title")).to_have_text(TITLE)
    assert page.locator(".search-title").evaluate_all(CUT) == []


def test_the_cross_of_a_tag_is_in_line_with_its_name(page: Page) -> None:
    page.locator("#menu-button").click()
    page.locator("#menu [data-opens=tags]").click()
    dialog = page.get_by_role("dialog", name="Schlagwörter")
    dialog.locator("#new-tag").fill("Küche")
    dialog.locator("#new-tag").press("Enter")
    name = dialog.locator(".tag-list span")
    expect(name).to_have_text("Küche")
    cross = dialog.locator(".tag-list button")
    assert abs(name.evaluate(MIDDLE) - cross.evaluate(MIDDLE)) <= 1


def test_a_title_that_is_edited_has_the_row_for_itself(page: Page) -> None:
    page.locator("#title").click()
    box = page.locator(".topbar .rename")
    expect(box).to_be_focused()
    assert box.evaluate("box => box.clientWidth") > 220
    page.keyboard.press("Escape")
    expect(page.locator("#menu-button")).to_be_visible()


def test_sharing_leaves_the_title_its_room(page: Page, server: Server) -> None:
    with server.person("alice").ask(TITLE) as stream:
        page.goto(f"/c/{stream.to_end().conversation}/")
    assert page.locator(".topbar h1").evaluate("title => title.clientWidth") >= 80
    expect(page.locator("#share-button")).to_be_hidden()
    page.locator("#menu-button").click()
    page.locator("#menu [data-opens=share]").click()
    expect(page.locator("#share-dialog[open]")).to_be_visible()
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 800})
    expect(page.locator("#share-button")).to_be_visible()
    page.locator("#menu-button").click()
    expect(page.locator("#menu #print")).to_be_visible()
    expect(page.locator("#menu [data-opens=share]")).to_be_hidden()


def test_undo_of_a_change_of_several_is_a_toast(page: Page) -> None:
    page.goto("/conversations/")
    page.locator("[name=conversations]").check()
    page.locator("button[name=action][value=archive]").click()
    toast = page.locator("#toast")
    expect(toast).to_contain_text("1 Chat archiviert.")
    expect(toast).to_have_css("position", "fixed")
    assert toast.locator("p").evaluate_all(CUT) == []
    toast.get_by_role("button", name="Rückgängig").click()
    expect(page.locator(".select-title")).to_have_text(TITLE)


HEIGHT = 800  # of each window
SAY = """values => {
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(visualViewport, name, { value, configurable: true });
  }
  visualViewport.dispatchEvent(new Event('resize'));
}"""
FOOT = "document.querySelector('#composer').getBoundingClientRect().bottom"
# The end of the newest words, and the beginning of what stands over the page's foot.
OVER = """() => [
  [...document.querySelectorAll('.reply [data-part=text] > *')].at(-1).getBoundingClientRect().bottom,
  document.querySelector('.composer-dock').getBoundingClientRect().top,
]"""


def say(page: Page, height: int, *, top: int = 0) -> None:
    page.evaluate(SAY, {"height": height, "offsetTop": top, "scale": 1})


def lifted(page: Page, pixels: int) -> None:
    """The page has heard of it."""
    expect(page.locator("html")).to_have_attribute("style", f"--covered: {pixels}px;")


def foot(page: Page) -> float:
    return float(page.evaluate(FOOT))


@pytest.fixture
def phone(window: Window, server: Server) -> ChatPage:
    chat = ChatPage.open(window, server, width=390, has_touch=True, is_mobile=True)
    chat.asked(says_line(essay(6_000), size=1_000))
    return chat


def test_the_box_and_the_newest_words_stay_above_the_keyboard(phone: ChatPage) -> None:
    page = phone.page
    assert foot(page) > HEIGHT - 60
    say(page, 460)
    lifted(page, 340)
    assert 400 < foot(page) <= 460
    words, dock = page.evaluate(OVER)
    assert dock - 150 < words <= dock
    say(page, 460, top=120)
    lifted(page, 220)
    assert 520 < foot(page) <= 580
    phone.ask("And shortly?")
    expect(phone.questions).to_have_count(2)  # a tap is heard a moment later
    phone.ended()
    assert foot(page) <= 580
    expect(phone.reply).to_be_in_viewport()
    assert page.evaluate(OVER)[0] > 120
    say(page, HEIGHT)
    lifted(page, 0)
    assert foot(page) > HEIGHT - 60


def test_reading_further_up_is_not_disturbed(phone: ChatPage) -> None:
    page = phone.page
    # Not `scrollTo`: what the page does after a reply's end would undo a movement without a reader's event.
    page.mouse.move(195, 300)
    page.mouse.wheel(0, -3_000)
    top = stands(page)
    expect(phone.jump).to_be_visible()
    say(page, 460)
    lifted(page, 340)
    assert foot(page) <= 460
    assert page.evaluate("scrollY") == top


def test_without_a_touch_screen_nothing_is_lifted(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=390).ready()
    say(chat.page, 460)
    assert foot(chat.page) > HEIGHT - 60
