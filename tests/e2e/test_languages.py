"""A language with longer words than English: every sentence is translated, and fits."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from chat.upstream.errors import ErrorKind
from tests.e2e.chat_page import ChatPage, Window, question
from tests.e2e.sidebar_page import conversations
from tests.e2e.translation_audit import too_wide, untranslated
from tests.support.pseudo_locale import LONGER, longer
from tests.support.server import Server

WIDTHS = (320, 1280)
NAMES = ("alice", "bob", "carol", "dave", "erin", "root", "@example.org", "example", "Cloudflare")
MODELS = ("GLM 4.7 Flash", "GPT OSS 20B", "@cf/zai-org/glm-4.7-flash", "@cf/openai/gpt-oss-20b")
IN_DJANGO = ("Search", "True", "False")  # words of Django's own pages that it has no translation of


@pytest.fixture(scope="module")
def server(pseudo_locale_server: Server) -> Server:
    return pseudo_locale_server


@pytest.fixture
def visit(window: Window, server: Server) -> Callable[..., Page]:
    """Open a page in a browser of that language."""

    def go(path: str, name: str = "alice", **options: object) -> Page:
        return window(server, name, at=path, locale=LONGER, reduced_motion="reduce", **options)

    return go


def fine(page: Page) -> None:
    assert untranslated(page, *NAMES, *MODELS) == []
    assert too_wide(page, *WIDTHS) == []


def ask_to_end(page: Page, text: str, status: str) -> None:
    chat = ChatPage(page)
    page.locator("#content").fill(text)
    page.locator("#content").press("Enter")
    expect(chat.reply).to_have_attribute("data-status", status)
    if status == "failed":
        expect(chat.reply.locator(".retry:not([inert])")).to_have_count(1)  # its words are fetched


def test_the_pages_of_those_who_are_signed_out(visit: Callable[..., Page]) -> None:
    page = visit("/accounts/login/", "")
    assert page.locator("html").get_attribute("lang") == LONGER
    fine(page)
    page.locator("#id_login").fill("bob")
    page.locator("#id_password").fill("not this one")
    page.locator("main button.primary").click()
    expect(page.get_by_role("alert")).to_be_visible()
    fine(page)
    for path in ("/accounts/invite/wrong/", "/nothing-here/", "/accounts/reset/x/y/"):
        page.goto(path)
        fine(page)


def test_a_reply_in_every_state_as_it_comes_and_after_a_reload(visit: Callable[..., Page]) -> None:
    page = visit("/")
    fine(page)
    for scenario, status in (
        ("reasoning think=5 tokens=5", "complete"),
        ("length tokens=5", "truncated"),
        ("cut after=3", "interrupted"),
        ("status http=400 code=5007", "failed"),
        ("status http=429 code=3036", "failed"),
    ):
        page.goto("/")
        ask_to_end(page, question(scenario), status)
        fine(page)
        page.reload()
        fine(page)


def test_dialogs_and_the_notes_beside_a_reply(visit: Callable[..., Page]) -> None:
    page = visit("/")
    ask_to_end(page, "Hello", "complete")
    page.locator("[data-thumb=down]").click()
    expect(page.locator(".feedback-reason")).to_be_visible()
    fine(page)
    page.locator(".question").hover()
    page.locator("[data-action=edit]").click()
    expect(page.locator(".edit")).to_be_visible()
    fine(page)
    page.locator("[data-action=cancel]").click()
    page.locator(".reply .message-actions [data-action=regenerate]").click()
    expect(page.locator(".versions:visible")).not_to_have_count(0)
    expect(ChatPage(page).reply).to_have_attribute("data-status", "complete")
    fine(page)
    page.locator("#pick").click()
    page.locator(".door[data-part=all]").click()
    expect(page.locator("#models input").first).to_be_visible()
    fine(page)
    page.locator("#models [type=search]").fill("nothing is called so")
    fine(page)
    page.locator("#models [type=search]").fill("")
    page.keyboard.press("Escape")
    page.locator("#menu-button").click()
    page.locator("#instructions").click()
    expect(page.locator("#settings")).to_be_visible()
    page.locator("#system").fill("x" * 50)
    fine(page)
    page.keyboard.press("Escape")
    page.locator("#menu-button").click()
    page.locator("#menu [data-opens=delete]").click()
    expect(page.locator("#toast form")).to_be_visible()
    fine(page)


def test_lists_and_cards(visit: Callable[..., Page], server: Server) -> None:
    conversations(server.database, "bob", ["One", "Two", "Three"])
    server.person("carol").post("/c/", {"content": "Hello"})
    page = visit("/", "bob")
    fine(page)
    page.locator("#conversations li").first.hover()
    page.locator("[data-opens=options]").first.click()
    expect(page.locator("#options")).to_be_visible()
    fine(page)
    for path in (
        "/conversations/",
        "/conversations/trash/",
        "/?temporary=on",
        "/settings/",
        "/settings/instructions/",
        "/settings/memory/",
        "/settings/usage/",
        "/settings/data/",
        "/settings/shared/",
        "/settings/keys/",
        "/readings/",
        "/accounts/password/",
        "/accounts/password/changed/",
    ):
        page.goto(path)
        fine(page)


def test_messages_of_refused_forms_and_of_the_api(visit: Callable[..., Page], server: Server) -> None:
    client = server.person("alice").client
    client.headers["Accept-Language"] = LONGER
    for path, body in [
        ("/c/", {"content": ""}),
        ("/c/", {"content": "x" * 200_001}),
        ("/c/", {"content": "x", "model": "none"}),
        ("/c/", {"unknown": 1}),
        ("/messages/00000000-0000-0000-0000-000000000000/edit/", {"content": "x"}),
    ]:
        message = client.post(path, json=body).json()["error"]["message"]
        for sentence in re.split(r"(?<=⟧) ", message):
            assert re.fullmatch(r"⟦.*⟧", sentence), message
    page = visit("/", java_script_enabled=False)
    page.locator("#content").fill("   ")
    page.locator(".send").click()
    expect(page.locator("#notice")).to_have_text(longer("Write a message or add a file."))


def test_the_administration(visit: Callable[..., Page], server: Server) -> None:
    stream = server.person("alice").asked(question("status http=429 code=3036"))
    page = visit(f"/admin/chat/conversation/{stream.conversation}/change/", "root")
    fine(page)
    page.goto("/readings/")
    lists = [
        f"/admin/chat/{name}/"
        for name in ("conversation", "run", "conversationaccess", "worker", "invite", "user")
    ]
    # Not somebody's own page: it lists permissions, which Django names in English in the database.
    people = ["/admin/chat/user/add/", "/admin/chat/user/2/link/"]
    for path in ["/admin/", *lists, "/admin/chat/invite/add/", *people, "/admin/chat/user/2/password/"]:
        page.goto(path)
        assert untranslated(page, *NAMES, *MODELS, *IN_DJANGO, *ErrorKind) == [], path
    page.goto("/admin/checkup/")
    for what, least in (("setup", 6), ("models", 20)):
        page.locator(f"form:has([value={what}]) [type=submit]").click()
        expect(page.locator(f".findings li:nth-child({least}) ~ .sum")).to_be_visible()
        assert untranslated(page, *NAMES, *MODELS, *IN_DJANGO, "Redis", "SQLite") == [], what
    page.goto("/admin/chat/invite/add/")
    page.locator("#id_note").fill("dave")
    page.locator(".submit-row [type=submit]").click()
    expect(page.locator("#id_link")).to_be_visible()
    assert untranslated(page, *NAMES, *MODELS) == []
