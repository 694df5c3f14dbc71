"""The first hour of a site, in the browser alone: each step from the card of a new chat."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window
from tests.support.people import PASSWORD
from tests.support.server import Server

CORNERS = """() => [['[type=file]', '::file-selector-button'], ['[type=submit].default']].map(
  ([name, part]) => getComputedStyle(document.querySelector(name), part).borderRadius)"""


def test_a_site_is_set_up_without_a_shell(window: Window, servers: Callable[..., Server]) -> None:
    server = servers(CLOUDFLARE_ACCOUNT_ID="", CLOUDFLARE_API_TOKEN="")
    page = window(server, "root", at="/")
    steps = page.get_by_role("region", name="Set up this site").get_by_role("listitem")
    expect(steps).to_have_count(4)
    expect(page.locator(".checklist .done")).to_have_text(["Invite someone (done)"])  # there are people

    page.get_by_role("link", name="Connect Cloudflare").click()
    page.get_by_label("Account ID").fill("acc")
    page.get_by_label("API token").fill("not-a-token-of-theirs")
    page.get_by_label("Your own password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Cloudflare doesn’t accept this token.")).to_be_visible()
    expect(page.get_by_label("Account ID")).to_have_value("acc")
    expect(page.get_by_label("API token")).to_have_value("")
    page.get_by_label("API token").fill("fake-token")
    page.get_by_label("Your own password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Connected. Replies now come from Cloudflare.")).to_be_visible()

    page.goto("/")
    page.get_by_role("link", name="Give the site a name and a picture").click()
    page.get_by_label("Name").fill("Berger Chat")
    page.get_by_label("Moss").check()
    chooses, saves = page.evaluate(CORNERS)
    assert chooses == saves
    page.get_by_role("button", name="Save").click()
    expect(page).to_have_title("Name and picture | Berger Chat administration")

    page.goto("/")
    expect(page).to_have_title("New chat · Berger Chat")
    expect(page.locator(".checklist .done")).to_have_count(3)
    chat = ChatPage(page)
    assert chat.asked("Hello") == "You said: Hello"
    expect(page).to_have_title("Hello · Berger Chat")
