"""Right-to-left languages: the page is mirrored, and texts of people keep their own direction."""

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.chat_page import ChatPage, Window, box, question
from tests.e2e.sidebar_page import conversations
from tests.e2e.translation_audit import too_wide
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.pseudo_locale import LEFTWARD
from tests.support.server import Server

ARABIC = "كيف أطبخ الكسكس المغربي؟"
HEBREW = "מה שלומך היום?"
MIXED = "قرأت README.md في مجلد chat ثم pip install"
ENGLISH = "How do I cook couscous?"
DIRECTION = "element => getComputedStyle(element).direction"
INK = """element => {
  const range = document.createRange();
  range.selectNodeContents(element);
  const room = element.getBoundingClientRect();
  const all = Array.from(range.getClientRects());
  const lowest = Math.max(...all.map(({ bottom }) => bottom));
  const last = all.filter(({ bottom }) => bottom > lowest - 4);
  const left = Math.min(...last.map((line) => line.left));
  return [left - room.left, room.right - Math.max(...last.map((line) => line.right))];
}"""


@pytest.fixture(scope="module")
def server(pseudo_locale_server: Server) -> Server:
    return pseudo_locale_server


def stands_right(text: Locator) -> bool:
    """Return True if its last line, which is seldom full, begins at the right edge."""
    left, right = text.evaluate(INK)
    return right < left


@pytest.mark.parametrize("widths", [(390, 320), (1280,)])
def test_the_page_is_mirrored_and_nothing_stands_out(
    window: Window, server: Server, widths: tuple[int, ...]
) -> None:
    width = widths[0]
    page = window(server, "alice", at="/", width=width, locale=LEFTWARD, reduced_motion="reduce")
    chat = ChatPage(page)
    assert page.locator("html").get_attribute("dir") == "rtl"
    for text in (ARABIC, ENGLISH):
        page.locator("#content").fill(question("reasoning think=5 tokens=5", text))
        page.locator(".send").click()
        expect(chat.reply).to_have_attribute("data-status", "complete")
    page.locator(".reply .message-actions [data-action=regenerate]").last.click()
    expect(page.locator(".reply .versions button")).not_to_have_count(0)
    expect(chat.reply).to_have_attribute("data-status", "complete")
    assert too_wide(page, *widths) == []
    if width < 832:
        page.locator(".sidebar-toggle").click()
    expect(page.locator("#sidebar")).to_be_visible()
    sidebar = box(page.locator("#sidebar"))
    assert sidebar["x"] + sidebar["width"] == width
    assert too_wide(page, *widths) == []
    if width < 832:
        page.keyboard.press("Escape")
        expect(page.locator("#sidebar")).to_be_hidden()
    assert box(page.locator(".send"))["x"] < width / 4
    previous, following = (page.locator(f".reply [data-side={side}]").last for side in ("previous", "next"))
    assert box(previous)["x"] > box(following)["x"]
    assert previous.locator("svg").evaluate("icon => getComputedStyle(icon).scale") == "-1 1"
    for path in ("/conversations/", "/readings/", "/accounts/password/", "/nothing-here/"):
        page.goto(path)
        assert too_wide(page, *widths) == []


@pytest.mark.parametrize(("locale", "edge"), [("en", 1), (LEFTWARD, 0)])
def test_a_menu_ends_where_its_button_ends(window: Window, server: Server, locale: str, edge: int) -> None:
    chat = ChatPage.open(window, server, locale=locale)
    chat.page.locator("#content").fill(question("words tokens=5"))
    chat.page.locator(".send").click()
    expect(chat.reply).to_have_attribute("data-status", "complete")
    button = chat.page.locator("#conversations .options-button").first
    button.click()
    edges = (box(element) for element in (button, chat.page.get_by_role("menu")))
    of_button, of_menu = (found["x"] + edge * found["width"] for found in edges)
    assert of_menu == pytest.approx(of_button, abs=1)


def test_in_english_the_arrows_stay_as_they_are(window: Window, server: Server) -> None:
    page = window(server, "alice", at="/")
    assert page.locator("html").get_attribute("dir") == "ltr"
    assert page.locator(".fold svg").evaluate("icon => getComputedStyle(icon).scale") == "none"
    assert box(page.locator("#sidebar"))["x"] == 0


@pytest.mark.parametrize(("locale", "width"), [("en", 390), (LEFTWARD, 1280)])
def test_peoples_texts_keep_their_direction(window: Window, server: Server, locale: str, width: int) -> None:
    titles = [ARABIC, HEBREW, ENGLISH, MIXED]
    found = conversations(server.database, "bob", titles)
    page = window(server, "bob", at=f"/c/{found[0]}/", width=width, locale=locale, reduced_motion="reduce")
    expect(page.locator("h1")).to_contain_text(ARABIC)
    assert page.locator("h1").evaluate(DIRECTION) == "rtl"
    items = {title: page.locator("#conversations li a").filter(has_text=title).first for title in titles}
    assert [item.evaluate(DIRECTION) for item in items.values()] == ["rtl", "rtl", "ltr", "rtl"]
    typed = page.locator("#content")
    for text, direction in ((HEBREW, "rtl"), (ENGLISH, "ltr"), (MIXED, "rtl")):
        typed.fill(text)
        assert typed.evaluate(DIRECTION) == direction
    chat = ChatPage(page)
    reply_text = f"{ARABIC}\n\n{ENGLISH}\n\n- {HEBREW}\n- {ENGLISH}\n\n> {MIXED}\n\n```\n{HEBREW}\n```"
    typed.fill(f"{ENGLISH}\n{says_line(reply_text)}")
    page.locator(".send").click()
    expect(chat.reply).to_have_attribute("data-status", "complete")
    for _ in range(2):
        prose = chat.reply.locator("[data-part=text]")
        blocks = prose.locator(":scope > p, li, blockquote p").all()
        assert [stands_right(block) for block in blocks] == [True, False, True, False, True]
        assert prose.locator("pre").evaluate(DIRECTION) == "ltr"
        assert not stands_right(chat.questions.last.locator("[data-part=text]"))
        assert too_wide(page, 390, 1280) == []
        page.reload()
