"""Printing: the conversation under its title, dark on white, without buttons, nothing cut off."""

from playwright.sync_api import expect

from tests.e2e.chat_page import Window
from tests.e2e.seed import talk
from tests.support.server import Server

PAPER = 720  # pixels between the margins of A4
SAID = f"See [the source](https://example.org/there).\n\n```\n{'a long line of code ' * 20}\n```"
WIDER = """() => [...document.querySelectorAll('body *')].filter(element => element.checkVisibility()
  && element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX !== 'visible'
  && !element.matches('.hidden')).map(element => element.outerHTML.slice(0, 80))"""


def test_a_conversation_on_paper(window: Window, server: Server) -> None:
    address = talk(server, "alice", ["Where is it?", SAID] * 12)  # the first ones are far from the end
    page = window(server, "alice", width=PAPER, color_scheme="dark")
    page.goto(address)
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.get_by_text("A long talk").locator("visible=true")).to_have_count(1)
    for hidden in ("nav", "#composer", "#pick", ".message-actions", ".code-actions"):
        expect(page.locator(hidden).locator("visible=true")).to_have_count(0)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    link = page.locator(".prose a").first
    assert link.evaluate("a => getComputedStyle(a, '::after').content") == '" (https://example.org/there)"'
    assert page.evaluate(WIDER) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER


def test_a_shared_conversation_on_paper(window: Window, server: Server) -> None:
    alice = server.person("alice")
    with alice.ask("Hello") as stream:
        message = stream.to_end().meta["message"]
    link = alice.post(f"/messages/{message}/share/", {}).json()["url"]
    page = window(server, width=PAPER)
    page.goto("/s/" + link.partition("/s/")[2])
    expect(page.get_by_role("link", name="Continue this conversation")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.get_by_text("You said: Hello")).to_be_visible()
    expect(page.locator(".button").locator("visible=true")).to_have_count(0)
