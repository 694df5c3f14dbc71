"""Accessibility that axe does not see: the keyboard alone, large letters, few colours, no motion."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import ChatPage, Window, menu_item, question
from tests.e2e.input_methods import reach
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.people import PASSWORD
from tests.support.server import Server

PAGES = ["/", "/settings/", "/conversations/", "/readings/", "/accounts/password/", "/nothing-here/"]
REPLY = (
    "# One\n\n## Two\n\n"
    + "A paragraph.\n\n" * 12
    + "```python\nprint(1)\n```\n\n[A link](https://example.org/)"
)
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
MAX_TAB_STOPS = 60
# The element in focus: its name, whether a frame is drawn around it, and whether any of it is in view.
STOP = """() => {
  const el = document.activeElement;
  if (el === document.body) return null;
  const framed = (box) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(box);
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
  };
  const label = el.closest('.attach, .think');
  const around = [el, label, el.closest('#composer, .model-row, .edit')].filter(Boolean);
  const { left, top, right, bottom } = el.getBoundingClientRect();
  const steps = [0.1, 0.5, 0.9];
  const seen = steps.some((x) => steps.some((y) => {
    const hit = document.elementFromPoint(left + x * (right - left), top + y * (bottom - top));
    const within = (label ?? el).contains(hit);
    return hit && (within || hit.contains(el) && !hit.matches('.composer-dock, .topbar'));
  }));
  return { name: el.outerHTML.slice(0, 90), framed: around.some(framed), seen };
}"""
# https://www.w3.org/TR/WCAG22/#text-spacing
SPACED = (
    "* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important; }"
)
SPACED += " p { margin-block-end: 2em !important; }"
CLIPPED = """() => Array.from(document.querySelectorAll('body *')).filter((el) => {
  const { overflowY, textOverflow } = getComputedStyle(el);
  return el.checkVisibility({ visibilityProperty: true }) && !el.closest('.hidden, svg, select, #sidebar')
    && ['hidden', 'clip'].includes(overflowY) && textOverflow !== 'ellipsis'
    && el.scrollHeight > el.clientHeight + 1;
}).map((el) => el.outerHTML.slice(0, 120))"""
MOVING = """() => document.getAnimations().filter(({ playState }) => playState === 'running')
  .map(({ animationName, transitionProperty }) => animationName ?? transitionProperty)"""
TRANSITIONS = """() => {
  window.drawn = [];
  addEventListener('transitionrun', ({ propertyName }) => window.drawn.push(propertyName));
}"""
BORDER = """(el) => {
  const { borderTopStyle, borderTopWidth, outlineStyle } = getComputedStyle(el);
  return (borderTopStyle !== 'none' && parseFloat(borderTopWidth) > 0) || outlineStyle !== 'none';
}"""


# The copy button of the code is brought behind the box at the foot of the page.
COVER = """() => {
  const copy = document.querySelector('[data-action=copy-code]');
  copy.focus({ preventScroll: true });
  const { top } = document.querySelector('#composer').getBoundingClientRect();
  scrollBy(0, copy.getBoundingClientRect().top - top - 10);
}"""


def talk(window: Window, server: Server, **options: object) -> ChatPage:
    """A conversation with a reply that is longer than the window."""
    chat = ChatPage.open(window, server, **options)
    chat.asked(says_line(REPLY))
    return chat


def test_a_stop_behind_the_box_would_be_noticed(window: Window, server: Server) -> None:
    page = talk(window, server).page
    # In one call: in between, the page may still follow the end of the reply.
    seen = page.evaluate(f"() => {{ ({COVER})(); return ({STOP})().seen; }}")
    assert not seen


def walk(page: Page, key: str) -> list[dict[str, object]]:
    """Every stop from here on, until the focus leaves the page or comes round."""
    stops: list[dict[str, object]] = []
    for _ in range(MAX_TAB_STOPS):
        page.keyboard.press(key)
        stop = page.evaluate(STOP)
        if stop is None or (stops and stop["name"] == stops[0]["name"]):
            break
        stops.append(stop)
    return stops


@pytest.mark.parametrize("width", [1280, 390])
def test_each_stop_of_the_tab_key_is_framed_and_in_view(window: Window, server: Server, width: int) -> None:
    page = talk(window, server, width=width).page
    for key, first in (("Shift+Tab", "#content"), ("Tab", ".skip")):
        page.locator(first).focus()
        stops = walk(page, key)
        assert len(stops) > 10
        assert [stop["name"] for stop in stops if not (stop["framed"] and stop["seen"])] == []


def scrollers(chat: ChatPage) -> list[str]:
    """The boxes of code and tables that Shift+Tab stops at on the way up from the message box."""
    chat.box.focus()
    met: list[str] = []
    while len(met) < MAX_TAB_STOPS and (not met or "skip" not in met[-1]):
        chat.page.keyboard.press("Shift+Tab")
        met.append(str(chat.page.evaluate("document.activeElement.cloneNode().outerHTML")))
    return [box for box in met if box.startswith(("<pre", '<div class="table'))]


def test_code_and_tables_are_stops_only_where_they_scroll(chat: ChatPage) -> None:
    assert scrollers(chat) == []
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    codes = [f"```\n{'x' * letters}\n```" for letters in (5, 60, 300)]
    scenario = says_line("\n\n".join([table, *codes]))
    chat.asked(scenario)
    assert len(scrollers(chat)) == 1
    chat.page.set_viewport_size({"width": 390, "height": 800})
    assert len(scrollers(chat)) == 2
    chat.asked(scenario)
    assert len(scrollers(chat)) == 4
    chat.page.set_viewport_size({"width": 1280, "height": 800})
    assert len(scrollers(chat)) == 2


def test_code_that_scrolls_is_scrolled_by_its_arrows(chat: ChatPage) -> None:
    chat.asked(says_line(f"```\n{'x' * 300}\n```"))
    code = chat.reply.locator("pre")
    reach(code)
    chat.page.keyboard.press("ArrowRight")
    expect(code).not_to_have_js_property("scrollLeft", 0)


def test_each_tab_stop_is_outlined_and_in_view(window: Window, server: Server) -> None:
    page = window(server, "alice", width=390)
    for path in PAGES[1:]:
        page.goto(path)
        stops = walk(page, "Tab")
        assert stops, path
        assert [stop["name"] for stop in stops if not (stop["framed"] and stop["seen"])] == [], path


def test_no_text_is_cut_off_where_somebody_spaces_it(window: Window, server: Server) -> None:
    page = talk(window, server, bypass_csp=True).page
    for path in (page.url, *PAGES):
        page.goto(path)
        page.add_style_tag(content=SPACED)
        assert page.evaluate(CLIPPED) == [], path
        assert page.evaluate(OVERFLOW) == 0, path


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_nothing_moves_for_who_asked_for_no_motion(window: Window, server: Server, motion: str) -> None:
    chat = ChatPage.open(window, server, width=390, reduced_motion=motion)
    chat.ask(question("words tokens=4000 first=600"))
    expect(chat.reply.locator(".waiting")).to_be_visible()
    waiting = chat.page.evaluate(MOVING)
    chat.page.evaluate(TRANSITIONS)
    chat.page.get_by_role("button", name="Chats", exact=True).click()
    expect(chat.page.locator("#sidebar")).to_be_in_viewport(ratio=0.99)  # it has come in whole
    drawn = chat.page.evaluate("window.drawn")
    assert bool(waiting) == bool(drawn) == (motion == "no-preference")
    chat.page.keyboard.press("Escape")
    chat.stop.click()
    chat.ended("stopped")


def test_with_forced_colours_everything_still_has_its_edges(window: Window, server: Server) -> None:
    chat = talk(window, server, forced_colors="active")
    page = chat.page
    assert page.evaluate("matchMedia('(forced-colors: active)').matches")
    expect(page.get_by_role("switch", name="Thinking")).to_be_checked()
    edged = (".send", "#composer", ".think", "#conversations [aria-current]", ".question .text", "#pick")
    for what in edged:
        assert page.locator(what).first.evaluate(BORDER), what
    chat.reply.get_by_role("button", name="Good reply").click()
    pressed = chat.reply.locator("[aria-pressed=true]")
    expect(pressed).to_have_count(1)
    assert pressed.evaluate(BORDER)
    page.get_by_role("link", name="New chat").focus()
    page.keyboard.press("Tab")
    assert page.evaluate(STOP)["framed"]
    page.goto("/settings/")
    for what in (".segments", ".segments :checked + span", "#text-size"):
        assert page.locator(what).first.evaluate(BORDER), what


def test_a_reply_takes_the_focus_from_nobody(chat: ChatPage) -> None:
    chat.ask(says_line(REPLY, size=3, delay=0.02))
    chat.grown_to(20)
    link = chat.page.get_by_role("link", name="New chat")
    link.focus()
    chat.page.evaluate("addEventListener('focusin', ({ target }) => (window.stolen = target.outerHTML))")
    chat.ended()
    expect(link).to_be_focused()
    assert chat.page.evaluate("window.stolen") is None


def test_the_headings_of_a_reply_are_below_that_of_its_message(window: Window, server: Server) -> None:
    chat = talk(window, server)
    levels = chat.page.locator("main :is(h1, h2, h3, h4, h5, h6)").evaluate_all(
        "(all) => all.map((el) => Number(el.localName[1]))"
    )
    assert levels == [1, 2, 2, 3, 4]


def test_touch_input_does_not_zoom_and_enter_adds_a_line(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=390, has_touch=True, is_mobile=True)
    chat.asked("Hello")
    expect(chat.box).to_have_attribute("enterkeyhint", "enter")
    chat.box.press_sequentially("one")
    chat.box.press("Enter")
    expect(chat.box).to_have_value("one\n")
    menu_item(chat.page, "Instructions and model settings").tap()
    expect(chat.page.get_by_role("dialog", name="Instructions and model settings")).to_be_visible()
    chat.questions.last.get_by_role("button", name="Edit").evaluate("(el) => el.click()")
    expect(chat.page.get_by_role("textbox", name="Edit your message")).to_be_attached()
    fields = "input:not([type=hidden], [type=radio], [type=checkbox]), textarea, select"
    sizes = chat.page.locator(fields).evaluate_all(
        "(all) => all.map((el) => [el.outerHTML.slice(0, 90), parseFloat(getComputedStyle(el).fontSize)])"
    )
    assert [name for name, size in sizes if size < 16] == []


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the focus is on what is called `name`."""
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == name:
            return
    raise AssertionError(f"{name} cannot be reached by Tab")


def test_the_keyboard_is_enough_from_signing_in_to_signing_out(window: Window, server: Server) -> None:
    page = window(server, at="/")
    expect(page.get_by_label("Name or email")).to_be_focused()
    page.keyboard.type("carol")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    chat = ChatPage(page)
    expect(chat.box).to_be_focused()
    page.keyboard.type("Hello")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("there")
    page.keyboard.press("Enter")
    assert chat.ended() == "You said: Hello\nthere"
    expect(chat.box).to_be_focused()
    expect(page.get_by_role("status")).to_have_text("The reply is finished")
    tab_to(page, "CAccount: carol")
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Administration")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_first_tab_leads_past_the_conversations_to_the_box(chat: ChatPage) -> None:
    chat.page.evaluate("document.activeElement.blur()")
    tab_to(chat.page, "Skip to the message box")
    chat.page.keyboard.press("Enter")
    expect(chat.box).to_be_focused()
