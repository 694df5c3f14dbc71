"""The empty page: words for the box, which are written on and not sent, and how to install it as an app."""

import re
import struct
from collections.abc import Callable
from urllib.parse import urljoin

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window, text_of
from tests.e2e.input_methods import MOUSE, MOUSE_ELSEWHERE, Way
from tests.e2e.network import Network
from tests.e2e.sidebar_page import Shell, conversations, drop
from tests.fake_cloudflare.server import Fake
from tests.support.server import Server
from tests.support.waiting import until

RECENT = 600.0  # milliseconds: what moves within 500 of an input is its effect, and is not counted
WATCH_SHIFTS = """() => {
  window.shifts = [];
  const texts = (sources) => sources.map(({ node }) => node?.textContent);
  const add = ({ hadRecentInput, sources }) => hadRecentInput || shifts.push(texts(sources));
  new PerformanceObserver((list) => list.getEntries().forEach(add)).observe({ type: 'layout-shift' });
}"""
# Where the last row is drawn as soon as there are so many.
WATCH_LAST = """() => {
  window.tops = {};
  const list = document.getElementById('conversations');
  const rows = list.getElementsByTagName('li');
  const note = () => (tops[rows.length] ??= rows[rows.length - 1].getBoundingClientRect().top);
  note();
  new MutationObserver(note).observe(list, { childList: true, subtree: true });
}"""
NEW = {"keyboard": "carol", "finger": "erin"}  # who have no chats yet


@MOUSE_ELSEWHERE
def test_a_beginning_goes_into_the_box_and_is_written_on(window: Window, server: Server, way: Way) -> None:
    shell = Shell.open(window, server, way, name=NEW[way.name])
    start = shell.page.get_by_role("button", name="Help me write", exact=True)
    shell.press(start)
    expect(shell.chat.box).to_have_value("Help me write a message to ")
    expect(shell.chat.box).to_be_focused()
    shell.page.keyboard.type("my aunt")
    expect(shell.chat.box).to_have_value("Help me write a message to my aunt")
    expect(start).to_be_visible()  # nothing jumps away while one writes
    expect(shell.chat.questions).to_have_count(0)
    shell.press(shell.chat.send)
    shell.chat.ended()
    assert text_of(shell.chat.questions.last) == "Help me write a message to my aunt"
    expect(start).not_to_be_visible()


def test_a_beginning_that_comes_late_overwrites_nothing(window: Window, server: Server) -> None:
    shell = Shell.open(window, server, MOUSE)
    with shell.page.expect_request("**/js/message_actions*"):
        shell.page.evaluate(
            "() => { document.querySelector('.suggestions button').click();"
            " const box = document.getElementById('content'); box.value = 'My own'; box.blur(); }"
        )
    expect(shell.chat.box).to_be_focused()  # again: it has come
    expect(shell.chat.box).to_have_value("My own")


def test_the_box_moves_to_the_foot_and_nothing_jumps(chat: ChatPage) -> None:
    box = chat.page.locator("#composer")
    before = box.bounding_box()
    assert before["y"] < 450
    assert chat.page.locator(".greeting").bounding_box()["y"] < before["y"]
    chat.page.evaluate(WATCH_SHIFTS)
    chat.asked("Hello")
    expect(chat.page.locator(".start")).not_to_be_visible()
    assert box.bounding_box()["y"] > 600
    assert chat.page.evaluate("shifts") == []


@pytest.mark.parametrize("is_first_today", [False, True])
def test_the_row_of_a_chat_that_begins_late_pushes_nothing(
    window: Window, server: Server, is_first_today: bool
) -> None:
    """A browser counts what moves later than half a second after a key: as the server took that long."""
    drop(server.database, "alice")
    conversations(server.database, "alice", ["Soup", "Tax", "Garden", "Boat"])
    other = "Soup" if is_first_today else "Boat"
    server.database.rows(f"DELETE FROM chat_conversation WHERE title = '{other}'")
    network = Network(server.port)
    try:
        chat = ChatPage.open(window, network)
        chat.page.locator("#conversations").hover()  # which loads the sidebar's module
        expect(chat.page.locator(".options-button")).to_have_count(3)
        chat.page.evaluate(WATCH_SHIFTS)
        chat.page.evaluate(WATCH_LAST)
        network.hold(b"event: meta")
        chat.ask("Hello")
        until(lambda: network.holds)
        chat.page.wait_for_timeout(RECENT)
        network.go_on()
        chat.ended()
    finally:
        network.close()
    expect(chat.page.locator("#conversations li")).to_have_count(4)
    assert chat.page.evaluate("shifts") == []
    before, after = chat.page.evaluate("[tops[3], tops[4]]")  # a moment after
    assert abs(before - after) < 1


def test_a_generated_title_in_fewer_lines_pulls_nothing_up(
    window: Window, servers: Callable[..., Server], fake: Fake
) -> None:
    server = servers(TITLE_MODEL="")
    conversations(server.database, "alice", ["Soup", "Tax", "Garden"])
    chat = ChatPage.open(window, server).ready()
    title = "Tell me something long about my grandmother’s boats"
    small = "fake for granite-4.0-h-micro: held after=1 tokens=2 key=title"
    chat.asked(f"{title}\nfake: words tokens=5 delay=0\n{small}")
    row = chat.page.locator("#conversations [aria-current]")
    expect(row).to_have_text(title)
    high = row.bounding_box()["height"]
    chat.page.wait_for_timeout(RECENT)
    chat.page.evaluate(WATCH_SHIFTS)
    fake.go_on("title")
    expect(row).to_have_text("word1 word2")
    assert row.bounding_box()["height"] < high
    chat.page.wait_for_timeout(RECENT)
    # Its own button stays in the middle of the row.
    assert [texts for texts in chat.page.evaluate("shifts") if any(texts)] == []


def test_what_glides_goes_on_from_where_it_is(chat: ChatPage) -> None:
    [before, after] = chat.page.evaluate(
        """async () => {
          const { glide } = await import('/static/js/glide.js');
          const box = document.getElementById('composer');
          const top = () => box.getBoundingClientRect().top;
          glide(box, top() + 40);
          await new Promise((done) => setTimeout(done, 60));
          const before = top();
          box.style.marginBlockStart = '30px';
          glide(box, before);
          return [before, top()];
        }"""
    )
    assert abs(before - after) < 1


def test_on_a_phone_the_box_stays_at_the_thumb(window: Window, server: Server) -> None:
    page = window(server, "root", at="/", width=390, has_touch=True, is_mobile=True)
    box, greeting = page.locator("#composer").bounding_box(), page.locator(".greeting").bounding_box()
    beginnings = page.get_by_role("list", name="Ways to begin").bounding_box()
    assert greeting["y"] < beginnings["y"] < box["y"]
    assert box["y"] + box["height"] > page.viewport_size["height"] - 40
    heights = page.locator(".topbar :is(button, a):visible").evaluate_all(
        "all => all.map((each) => each.getBoundingClientRect().height)"
    )
    assert len(heights) >= 4
    assert min(heights) >= 40


def test_a_low_page_begins_with_the_greeting(window: Window, server: Server) -> None:
    page = window(server, "alice")
    page.set_viewport_size({"width": 844, "height": 300})
    page.goto("/")
    expect(page.locator("#content")).to_be_focused()
    greeting, header = page.locator(".greeting").bounding_box(), page.locator(".topbar").bounding_box()
    assert greeting["y"] >= header["y"] + header["height"]


def size(png: bytes) -> str:
    assert png.startswith(b"\x89PNG\r\n")
    return "{}x{}".format(*struct.unpack(">II", png[16:24]))


def test_the_browser_finds_nothing_in_the_way(window: Window, server: Server) -> None:
    page = ChatPage.open(window, server).page
    devtools = page.context.new_cdp_session(page)
    manifest = devtools.send("Page.getAppManifest")
    assert manifest["url"].startswith(f"{server.url}/static/chat.")
    assert manifest["errors"] == []
    wrong = devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]
    # A window without a profile can install nothing, whatever the page.
    assert [error for error in wrong if error["errorId"] != "in-incognito"] == []


def test_each_icon_is_there_in_its_size(server: Server) -> None:
    alice = server.person("alice")
    page = alice.get("/").text
    address = page.split('rel="manifest" href="')[1].split('"')[0]
    response = alice.get(address)
    assert response.headers["content-type"] == "application/manifest+json"
    for icon in response.json()["icons"]:
        drawn = alice.get(urljoin(address, icon["src"]))
        assert drawn.status_code == 200
        assert drawn.headers["content-type"] == icon["type"]
        if icon["sizes"] != "any":
            assert size(drawn.content) == icon["sizes"]
    touch = page.split('rel="apple-touch-icon" href="')[1].split('"')[0]
    assert size(alice.get(touch).content) == "180x180"


def test_the_keys_are_named_until_they_are_learned(window: Window, server: Server) -> None:
    drop(server.database, "bob")
    chat = ChatPage.open(window, server, "bob")
    keys = chat.page.locator("#hint [data-left]")
    expect(chat.box).to_have_accessible_description(re.compile("^Press Enter to send.*mistakes"))
    for count in range(1, 4):  # the server counts a new chat and its message
        chat.ask(f"{count}\nfake: words tokens=1 delay=0")
        chat.ended()
        expect(chat.replies).to_have_count(count)
        expect(keys).to_have_attribute("data-left", str(4 - count))
    chat.page.reload()
    expect(keys).to_have_attribute("data-left", "1")
    chat.ask("4\nfake: words tokens=1 delay=0")
    expect(keys).to_have_count(0)
    expect(chat.box).to_have_accessible_description("Models can make mistakes.")
