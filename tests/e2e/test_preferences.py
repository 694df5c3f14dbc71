"""The settings of a browser, as somebody chooses them and as the chat then behaves."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.accessibility import problems
from tests.e2e.chat_page import ChatPage, Window, question
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.people import PASSWORD
from tests.support.server import Server

NOTHING, BLOCKS = "Nothing", "The full reply, by paragraph"
GROUND = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(253, 252, 249)", "rgb(27, 25, 23)"
MARKDOWN = (
    "# Bread\n\nKnead it.\n\n| day | do |\n|---|---|\n| 1 | feed |\n\n```python\nrest(2)\n```\n\nBake it."
)
PARTS = ["Bread", "Knead it.", "day\tdo\n1\tfeed", "python\nrest(2)", "Bake it."]
# The texts that a screen reader is given to say, piece by piece.
LISTEN = """() => {
  window.heard = [];
  const region = document.querySelector('#spoken') ?? document.querySelector('#status');
  new MutationObserver((records) => {
    for (const { addedNodes } of records) {
      heard.push(...Array.from(addedNodes, (node) => node.textContent).filter(Boolean));
    }
  }).observe(region, { childList: true, subtree: true });
}"""
# A browser may need a while until it has gone back, in which a refused save opens the dialog again.
SLOW_BACK = """() => {
  const back = history.back.bind(history);
  history.back = () => setTimeout(back, 300);
  addEventListener('popstate', () => setTimeout(() => (window.went = true)));
}"""


@pytest.fixture(autouse=True)
def nothing_chosen(server: Server) -> None:
    server.database.rows("DELETE FROM chat_preferences")


def choose(page: Page, setting: str, option: str) -> None:
    page.goto("/settings/")
    expect(page.get_by_role("status")).to_have_count(1)  # what saves is there
    if setting in ("Appearance", "Enter key"):
        page.get_by_role("radiogroup", name=setting).get_by_label(option).check()
    else:
        page.get_by_label(setting).select_option(label=option)
    expect(page.get_by_role("status")).to_have_text("Saved")


def listened(chat: ChatPage, text: str, status: str = "complete") -> list[str]:
    """Return the announcements while a question is answered."""
    chat.page.goto("/")
    expect(chat.send).to_be_visible()
    chat.page.evaluate(LISTEN)
    chat.asked(text, status)
    chat.page.evaluate("() => new Promise(requestAnimationFrame)")
    heard: list[str] = chat.page.evaluate("heard")
    return heard


def gear(page: Page) -> Locator:
    return page.get_by_role("link", name="Settings", exact=True)


def over_the_chat(page: Page) -> Locator:
    """Open the settings, and return their dialog."""
    gear(page).click()
    dialog = page.get_by_role("dialog", name="Settings")
    expect(dialog).to_be_visible()
    return dialog


def test_a_choice_over_the_chat_is_seen_and_stored_at_once(window: Window, server: Server) -> None:
    page = window(server, "alice", at="/", color_scheme="light")
    dialog = over_the_chat(page)
    expect(dialog.get_by_role("button", name="Save")).to_have_count(0)
    dialog.get_by_label("Dark").check()
    expect(dialog.get_by_role("status")).to_have_text("Saved")
    assert page.evaluate(GROUND) == DARK
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(gear(page)).to_be_focused()
    page.reload()
    assert page.evaluate(GROUND) == DARK


def test_a_choice_that_is_not_stored_is_put_back(window: Window, server: Server) -> None:
    page = window(server, "alice", at="/", color_scheme="light")
    dialog = over_the_chat(page)
    page.route("**/settings/", lambda route: route.abort())
    dialog.get_by_label("Dark").click()  # `check` would expect it to stay
    expect(dialog.get_by_role("alert")).to_have_text("Can’t reach the server. Try again.")
    expect(dialog.get_by_label("System")).to_be_checked()
    assert page.evaluate(GROUND) == LIGHT
    page.unroute_all()
    dialog.get_by_label("Text size").select_option("large")
    expect(dialog.get_by_role("status")).to_have_text("Saved")


def test_the_language_changes_the_whole_page(window: Window, server: Server) -> None:
    page = window(server, "alice", at="/", locale="en-GB")
    over_the_chat(page).get_by_label("Language").select_option("de")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("dialog", name="Einstellungen")).to_be_visible()


def test_back_and_the_sections_of_the_dialog(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, "carol")
    chat.asked("Hello")
    page = chat.page
    dialog, address = over_the_chat(page), page.url
    for name in ("Instructions", "Usage", "API keys"):
        dialog.get_by_role("link", name=name, exact=True).click()
        expect(dialog.get_by_role("heading", level=2).first).to_have_text(name)
        expect(dialog.locator(".settings-sections [aria-current]")).to_have_text(name)
    page.reload()
    expect(dialog.get_by_role("heading", level=2).first).to_have_text("API keys")
    page.go_back()
    expect(dialog).to_be_hidden()
    assert page.url == address
    page.go_forward()
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
    page.wait_for_function("history.state === null")


def test_forms_in_the_dialog_lead_to_their_section(window: Window, server: Server) -> None:
    page = window(server, "bob", at="/")
    dialog = over_the_chat(page)
    dialog.get_by_role("link", name="API keys").click()
    dialog.get_by_label("Name", exact=True).fill("a program")
    dialog.get_by_label("Your password").fill("wrong")
    dialog.get_by_role("button", name="Create key").click()
    expect(dialog.get_by_text("That isn’t your current password.")).to_be_visible()
    dialog.get_by_label("Your password").fill(PASSWORD)
    dialog.get_by_role("button", name="Create key").click()
    expect(dialog.get_by_label("Copy it now.")).to_be_focused()
    expect(dialog.get_by_role("button", name="Copy")).to_be_visible()


def test_instructions_are_saved_when_they_are_left(window: Window, server: Server) -> None:
    page = window(server, "alice", at="/")
    dialog = over_the_chat(page)
    dialog.get_by_role("link", name="Instructions").click()
    dialog.get_by_label("Instructions for all chats").fill("Be brief.")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    over_the_chat(page).get_by_role("link", name="Instructions").click()
    expect(dialog.get_by_label("Instructions for all chats")).to_have_value("Be brief.")
    page.route(
        "**/instructions/",
        lambda route: route.abort() if route.request.method == "POST" else route.continue_(),
    )
    page.evaluate(SLOW_BACK)
    dialog.get_by_label("Instructions for all chats").fill("Be kind.")
    page.keyboard.press("Escape")
    page.wait_for_function("() => window.went")
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(dialog.get_by_label("Instructions for all chats")).to_have_value("Be kind.")
    assert page.evaluate("Boolean(history.state.settings)")


def test_the_chosen_theme_overrides_the_device(window: Window, server: Server) -> None:
    page = window(server, "alice", color_scheme="dark")
    for label, ground in (("Light", LIGHT), ("Dark", DARK), ("System", DARK)):
        choose(page, "Appearance", label)
        page.goto("/")
        assert page.evaluate(GROUND) == ground
        assert problems(page) == []
        page.emulate_media(color_scheme="dark")


KEY = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
# The headers that are narrower than their longest word.
BROKEN_WORDS = """table => [...table.querySelectorAll('thead th')].filter((header) => {
  const words = header.textContent.split(' ').length;
  const lines = document.createRange();
  lines.selectNodeContents(header);
  return new Set([...lines.getClientRects()].map(({ top }) => top)).size > words;
}).map((header) => header.textContent)"""


SECTIONS = ("", "instructions/", "account/", "keys/", "api/", "usage/", "readings/")


def test_the_settings_fit_with_small_and_with_large_text(window: Window, server: Server) -> None:
    page = window(server, "alice")
    sizes = {}
    for size in ("small", "normal", "large", "larger"):
        server.person("alice").post("/settings/", {"text_size": size})
        for section in SECTIONS if size == "larger" else SECTIONS[:1]:
            page.goto(f"/settings/{section}")
            for width in (320, 844, 1920):
                page.set_viewport_size({"width": width, "height": 640})
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (section, size)
            assert problems(page) == [], (section, size)
        sizes[size] = page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)")
    assert sizes == {"small": 14, "normal": 16, "large": 18, "larger": 20}


def test_the_settings_stand_beside_the_conversations(chat: ChatPage) -> None:
    chat.asked("A question to come back to")
    page = chat.page
    page.goto("/settings/")
    expect(page.get_by_role("navigation", name="Settings").get_by_role("link")).to_have_count(9)
    for name in ("Instructions", "Usage", "General"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        current = page.locator(".settings-sections [aria-current]")
        expect(current).to_have_text(name)
    page.get_by_role("link", name="A question to come back to").click()
    expect(chat.replies).to_have_count(1)


def test_costs_are_not_cut_off_on_a_phone(window: Window, server: Server) -> None:
    server.person("bob").post("/c/", {"content": "A long question", "client_key": KEY})
    server.database.rows("UPDATE chat_run SET prompt_tokens = 369000, completion_tokens = 77380")
    page = window(server, "bob", at="/settings/usage/", width=390, locale="de-DE")  # its words are longer
    table = page.get_by_role("region", name="Nach Modell")
    assert table.evaluate("table => table.scrollWidth - table.clientWidth") == 0
    assert table.evaluate(BROKEN_WORDS) == []


def test_enter_makes_a_line_for_who_likes_that(window: Window, server: Server) -> None:
    chat = ChatPage(window(server, "alice"))
    choose(chat.page, "Enter key", "New line")
    chat.page.goto("/")
    expect(chat.box).to_have_accessible_description(re.compile("^Press Enter for a new line"))
    chat.box.press_sequentially("one")
    chat.box.press("Enter")
    chat.box.press_sequentially("two")
    expect(chat.box).to_have_value("one\ntwo")
    chat.box.press("Control+Enter")
    assert chat.ended() == "You said: one\ntwo"
    chat.questions.last.get_by_role("button", name="Edit").click()
    editor = chat.page.get_by_role("textbox", name="Edit your message")
    editor.press("Enter")
    expect(editor).to_have_value("one\ntwo\n")
    editor.press_sequentially("three")
    editor.press("Control+Enter")
    expect(chat.questions.last.locator("[data-part=text]")).to_have_text("one\ntwo\nthree")
    chat.ended()


def test_a_reply_that_fails_says_how(window: Window, server: Server) -> None:
    chat = ChatPage(window(server, "alice"))
    heard = listened(chat, question("length tokens=3"), "truncated")
    assert heard[-1] == "The reply ended. Cut off at the length limit."


def test_nothing_is_said_to_who_wants_to_hear_nothing(window: Window, server: Server) -> None:
    chat = ChatPage(window(server, "alice"))
    choose(chat.page, "Announce replies", NOTHING)
    assert listened(chat, "Hello") == []


def test_each_block_is_said_once_when_it_is_whole(window: Window, server: Server) -> None:
    chat = ChatPage(window(server, "alice"))
    choose(chat.page, "Announce replies", BLOCKS)
    heard = listened(chat, says_line(MARKDOWN, size=2, delay=0.08))
    assert "\n".join(heard) == "\n".join([*PARTS, "The reply is finished"])
    assert len(heard) <= len(PARTS)
    heard = listened(chat, question("length tokens=3"), "truncated")
    assert heard == ["word1 word2 word3\nThe reply ended. Cut off at the length limit."]


def test_a_page_opened_amid_a_reply_says_what_is_new(window: Window, server: Server) -> None:
    chat = ChatPage(window(server, "alice"))
    choose(chat.page, "Announce replies", BLOCKS)
    chat.page.goto("/")
    paragraphs = [f"Paragraph {n} of the long reply." for n in range(14)]  # seconds for the reload
    chat.ask(says_line("\n\n".join(paragraphs), size=8, delay=0.15))
    expect(chat.reply.locator("[data-part=text] > p").nth(3)).to_be_attached()
    chat.page.reload()
    chat.page.evaluate(LISTEN)
    chat.ended()
    announced = "\n".join(chat.page.evaluate("heard"))
    assert announced.endswith("\n".join([*paragraphs[-2:], "The reply is finished"]))
    assert paragraphs[0] not in announced
    assert all(announced.count(paragraph) <= 1 for paragraph in paragraphs)


@pytest.mark.parametrize(("label", "loads"), [(BLOCKS, 1), (NOTHING, 0)])
def test_the_module_that_reads_aloud_is_loaded_for_who_chose_it(
    window: Window, server: Server, label: str, loads: int
) -> None:
    page = window(server, "alice")
    choose(page, "Announce replies", label)
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.goto("/", wait_until="networkidle")
    assert sum("announcer" in url for url in urls) == loads
    assert sum("chat." in url and url.endswith(".js") for url in urls) == 1
