"""The administrator decides about models, and people see what is left of them."""

import re
from functools import partial

from playwright.sync_api import Page, expect

from tests.e2e.chat_page import Window
from tests.support.server import Server
from tests.support.waiting import until

LIST = "/admin/chat/sitemodel/"
soon = partial(until, patience=15)  # seconds


def choose(page: Page, action: str, *names: str) -> None:
    for name in names:
        page.get_by_role("row", name=re.compile(name)).get_by_role("checkbox").first.check()
    page.locator("select[name=action]").select_option(label=action)
    with page.expect_navigation():  # what the page before it showed does not count
        page.get_by_role("button", name="Go").click()


def test_the_administrator_hides_shows_and_makes_a_default(window: Window, server: Server) -> None:
    soon(lambda: server.database.value("SELECT count(*) FROM chat_catalogstate WHERE fetched IS NOT NULL"))
    page = window(server, "root", at=LIST, width=390)
    expect(page.get_by_role("heading", name="Cloudflare’s model list was last updated on")).to_be_visible()
    choose(page, "Hide", "Granite 4.0 H Micro")
    expect(page.get_by_text("1 model was changed.")).to_be_visible()
    soon(lambda: "Granite" not in server.person("bob").get("/models/").text)
    choose(page, "Show", "Granite 4.0 H Micro")
    soon(lambda: "Granite" in server.person("bob").get("/models/").text)
    choose(page, "Set as default", "Llama 3.2 3B")
    expect(page.get_by_text("Llama 3.2 3B is now the default model.")).to_be_visible()
    choose(page, "Hide", "Llama 3.2 3B")
    expect(page.get_by_text("Make another one the default first.")).to_be_visible()
    choose(page, "Set as default", "GLM 4.7 Flash")
    expect(page.get_by_text("GLM 4.7 Flash is now the default model.")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
