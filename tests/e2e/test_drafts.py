"""Drafts: text that was typed and not sent is kept for each conversation, until the server has it."""

import re

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.chat_page import ChatPage, Window
from tests.support.server import Server


def test_each_conversation_has_its_own_draft(chat: ChatPage) -> None:
    chat.asked("The first one")
    first = chat.page.url
    chat.box.fill("for the first")
    chat.page.goto("/")
    expect(chat.box).to_have_value("")
    chat.box.fill("for a new one")
    chat.page.goto(first)
    expect(chat.box).to_have_value("for the first")
    chat.page.reload()
    expect(chat.box).to_have_value("for the first")
    chat.page.goto("/")
    expect(chat.box).to_have_value("for a new one")


def test_text_typed_during_a_rejected_send_is_kept(chat: ChatPage) -> None:
    held: list[Route] = []
    chat.page.route(re.compile(r"/c/\?html=1"), lambda route: held.append(route))
    chat.ask("On its way")
    expect(chat.box).to_have_value("")
    chat.box.fill("and the next thought")
    chat.page.wait_for_function(
        "text => Object.values(localStorage).filter((value) => value === text).length === 1",
        arg="On its way\n\nand the next thought",
    )
    while not held:
        chat.page.wait_for_timeout(50)
    held[0].fulfill(status=409, json={"error": {"code": "conflict", "message": "It has changed."}})
    expect(chat.box).to_have_value("On its way\n\nand the next thought")


def test_a_long_address_in_the_box_does_not_widen_a_phone(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=390, is_mobile=True, has_touch=True)
    chat.box.fill(f"https://example.org/{'a' * 3_000}")
    assert chat.page.evaluate("document.documentElement.scrollWidth") == 390
    expect(chat.send).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("path", ["/", "/settings/"])
def test_signing_out_leaves_nothing_of_a_person_on_the_machine(chat: ChatPage, path: str) -> None:
    chat.box.fill("a secret")
    chat.page.reload()
    expect(chat.box).to_have_value("a secret")
    if path != "/":
        chat.page.goto(path)
    assert chat.page.evaluate("localStorage.length") > 0
    chat.page.locator("#sign-out").evaluate(
        "form => form.addEventListener('submit', (event) => event.preventDefault())"
    )
    chat.page.locator("#sign-out").evaluate("form => form.requestSubmit()")
    assert "secret" not in str(chat.page.evaluate("Object.values(localStorage)"))
