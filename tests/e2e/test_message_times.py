"""Times of messages: one on each, and the names of the days between them."""

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from playwright.sync_api import Page, expect

from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.seed import numbered, talk
from tests.support.people import PASSWORD
from tests.support.server import Server

TOKYO = ZoneInfo("Asia/Tokyo")
SHOWN = "[...document.querySelectorAll('#thread .at')].map((time) => time.textContent.trim())"


def opened(window: Window, server: Server, address: str) -> ChatPage:
    """The page in Tokyo, whose zone the server knows."""
    page = window(server, "alice", at="/", timezone_id="Asia/Tokyo")
    page.goto(address)
    return ChatPage(page)


def in_tokyo(times: list[str]) -> list[str]:
    return [f"{datetime.fromisoformat(time).astimezone(TOKYO):%H:%M}" for time in times]


def exact(page: Page) -> list[str]:
    return [str(time.get_attribute("datetime")) for time in page.locator("#thread .at").all()]


def days(page: Page) -> list[str]:
    """The days' names and the first words of the messages below them."""
    lines = "#thread :is(.day, .message:not([hidden]) > [data-part=text])"
    return [line.split("\n")[0] for line in page.locator(lines).all_text_contents()]


def test_each_message_has_a_time_in_the_readers_zone(window: Window, server: Server) -> None:
    chat = opened(window, server, talk(server, "alice", numbered(4)))
    assert chat.page.evaluate(SHOWN) == in_tokyo(exact(chat.page))
    chat.questions.first.hover()
    expect(chat.questions.first.locator(".at")).to_have_css("opacity", "1")
    expect(chat.questions.last.locator(".at")).to_have_css("opacity", "0")
    chat.questions.last.get_by_role("button", name="Edit").focus()
    expect(chat.questions.last.locator(".at")).to_have_css("opacity", "1")


def test_a_page_whose_zone_was_not_known_shows_the_readers(window: Window, server: Server) -> None:
    """Without the modules that come later, and with a quick change of page after it."""
    page = window(server, "alice", timezone_id="Asia/Tokyo")
    page.route("**/js/{sync,background}.*", lambda route: route.abort())
    page.goto(talk(server, "alice", numbered(4)))
    expect(page.locator("#thread")).to_have_attribute("data-time-zone", "Asia/Tokyo")
    assert page.evaluate(SHOWN) == in_tokyo(exact(page))
    page.goto("/settings/")
    expect(page.locator("html")).to_have_attribute("data-zone", "Asia/Tokyo")


def test_the_zone_is_known_from_the_page_to_sign_in_on(window: Window, server: Server) -> None:
    address = talk(server, "carol", numbered(2))
    page = window(server, "", timezone_id="Asia/Tokyo")
    page.goto(f"/accounts/login/?next={address.removeprefix(server.url)}")
    page.get_by_label("Name or email").fill("carol")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    with page.expect_response(lambda response: "/c/" in response.url) as first:
        page.get_by_role("button", name="Sign in").click()
    written = re.findall(r'class="at" datetime="([^"]+)">([0-9:]+)<', first.value.text())
    assert written
    assert [time for _, time in written] == in_tokyo([at for at, _ in written])


def test_a_chosen_zone_stays_whatever_the_browser_has(window: Window, server: Server) -> None:
    server.person("alice").post("/settings/", {"time_zone": "UTC"})
    chat = opened(window, server, talk(server, "alice", numbered(2)))
    chat.asked("And now?")
    assert chat.page.evaluate(SHOWN) == [f"{datetime.fromisoformat(at):%H:%M}" for at in exact(chat.page)]
    server.person("alice").post("/settings/", {"time_zone": ""})


def test_a_live_turn_has_times_and_begins_a_day(window: Window, server: Server) -> None:
    chat = opened(window, server, talk(server, "alice", ["Bread", "Flour"]))
    assert days(chat.page)[0] in ("Today", "Yesterday", f"{yesterday():%-d %B %Y}")
    before = days(chat.page)
    chat.asked("And today?")
    after = ["Today"] if before[0] != "Today" else []
    expect(chat.page.locator("#thread .day")).to_have_count(1 + len(after))
    assert days(chat.page) == [*before, *after, "And today?", "You said: And today?"]
    times = chat.page.evaluate(SHOWN)
    assert times == in_tokyo(exact(chat.page))
    chat.page.reload()
    assert days(chat.page) == [*before, *after, "And today?", "You said: And today?"]
    assert chat.page.evaluate(SHOWN)[:2] == times[:2]


def test_a_page_with_a_wrong_clock_shows_the_servers_times(window: Window, server: Server) -> None:
    page = window(server, "alice")
    page.clock.set_fixed_time(datetime.now() - timedelta(hours=3, minutes=7))
    page.goto("/")
    chat = ChatPage(page)
    for text in ("Hello", "And now?"):
        chat.asked(text)
        expect(chat.reply.locator(".at")).not_to_be_empty()
    old = str(chat.reply.get_attribute("data-message"))
    chat.reply.get_by_role("button", name="Regenerate", exact=True).click()
    expect(chat.reply).not_to_have_attribute("data-message", old)
    chat.ended()
    expect(chat.reply.locator(".at")).not_to_be_empty()
    times = page.evaluate(SHOWN)
    page.reload()
    assert page.evaluate(SHOWN) == times


def yesterday() -> datetime:
    return datetime.now(TOKYO) - timedelta(days=1)


def test_a_chat_of_today_names_no_day(chat: ChatPage) -> None:
    chat.asked("Hello")
    chat.page.wait_for_function("() => document.querySelector('.question .at').dateTime")
    expect(chat.page.locator(".day")).to_have_count(0)


def test_a_day_is_named_once_however_much_is_loaded(window: Window, server: Server) -> None:
    chat = opened(window, server, talk(server, "alice", numbered(90)))
    expect(chat.page.locator("#thread .day")).to_have_count(1)
    name = chat.page.locator("#thread .day").inner_text()
    chat.page.evaluate("scrollTo(0, 0)")
    expect(chat.page.locator(".message")).to_have_count(90)
    assert days(chat.page)[:2] == [name, "Message 1."]
    expect(chat.page.locator("#thread .day")).to_have_count(1)
