"""The steps of a reply as somebody sees them: while they happen, afterwards, and without scripts."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.chat_page import ChatPage, Window, open_instructions
from tests.e2e.sidebar_page import look
from tests.fake_cloudflare.tool_scenarios import turns_line
from tests.support.server import Server

# What moves from here on. The dot below a growing text is of it.
STANDING = """() => {
  window.moved = [];
  new PerformanceObserver((list) => {
    for (const { sources } of list.getEntries()) {
      for (const { node } of sources) {
        if (document.getElementById('thread').contains(node)) window.moved.push(node.outerHTML ?? node.data);
      }
    }
  }).observe({ type: 'layout-shift' });
}"""


def searches(*queries: str) -> list[list[object]]:
    return [["web_search", {"query": query}] for query in queries]


def switch(chat: ChatPage) -> Locator:
    return chat.page.get_by_role("switch", name="Web")


@pytest.fixture
def chat(request: pytest.FixtureRequest, window: Window, server: Server) -> ChatPage:
    return ChatPage.open(window, server, width=getattr(request, "param", 1280))


def asked(chat: ChatPage, *turns: dict[str, object], **options: object) -> None:
    switch(chat).check(force=True)
    chat.ask(f"Where is the boat?\n{turns_line(*turns, **options)}")


def test_steps_are_shown_as_they_happen_and_fold_into_a_line(chat: ChatPage) -> None:
    turns: list[dict[str, object]] = [
        {"text": "Let me look.", "calls": searches("walnut", "boat")},
        {"text": "It is in the shed [1]. " * 3},
    ]
    asked(chat, *turns, delay=0.05)
    line = chat.reply.locator(".steps > summary")
    expect(line).to_contain_text("2 searches")
    chat.ended()
    expect(chat.reply.locator(".steps li[data-state=done]")).to_have_count(2)
    link = chat.reply.locator(".steps a").first
    expect(link).to_be_hidden()
    line.focus()
    chat.page.keyboard.press("Enter")
    expect(link).to_be_visible()
    streamed = chat.reply.locator("[data-part=steps]").inner_html()
    chat.page.reload()
    expect(chat.reply.locator(".steps > summary")).to_contain_text("2 searches")
    folded = chat.reply.locator("[data-part=steps]").inner_html()
    assert folded == streamed.replace(' open=""', "")
    expect(switch(chat)).to_be_checked()


@pytest.mark.parametrize("chat", [1280, 390], indirect=True)
def test_what_the_model_has_written_stays_where_it_is(chat: ChatPage) -> None:
    turns: list[dict[str, object]] = [
        {"text": "Let me look. " * 12, "calls": searches("walnut", "boat", "a longer search for all of it")},
        {"text": "One more:\n", "calls": searches("shed")},
        {"text": "It is in the shed [1]. " * 3},
    ]
    asked(chat, *turns, delay=0.05)
    expect(chat.reply.locator(".prose > p")).to_have_count(1)
    chat.page.evaluate(STANDING)
    chat.ended()
    assert chat.page.evaluate("window.moved") == []
    order = "text => Array.from(text.children, (each) => each.dataset.part ?? each.localName)"
    streamed = chat.reply.locator(".prose").evaluate(order)
    assert streamed == ["p", "steps", "p", "steps", "p"]
    chat.page.reload()
    assert chat.reply.locator(".prose").evaluate(order) == streamed


def test_a_call_has_one_sign_of_life(chat: ChatPage) -> None:
    asked(chat, {"text": "I look.", "calls": searches("fake: slow")})
    expect(chat.reply.locator(".steps[data-live]")).to_be_visible()
    dot = "text => getComputedStyle(text, '::after').content"
    assert chat.reply.locator(".prose").evaluate(dot) == "none"
    chat.stop.click()
    chat.ended("stopped")


@pytest.mark.parametrize("scripts", [True, False])
def test_the_number_of_a_source_opens_it(
    chat: ChatPage, window: Window, server: Server, scripts: bool
) -> None:
    asked(chat, {"calls": searches("walnut")}, {"text": "It is in the shed [1]."})
    chat.ended()
    chat.page.wait_for_url(re.compile("/c/"))
    page = window(server, "alice", at=chat.page.url.removeprefix(server.url), java_script_enabled=scripts)
    source = page.get_by_role("region", name="Sources").locator("details").first
    expect(source.get_by_role("link")).to_be_hidden()
    page.get_by_role("link", name="[1]", exact=True).click()
    expect(source.get_by_role("link")).to_be_in_viewport()


def test_a_switch_works_by_keyboard_and_stays_with_the_chat(chat: ChatPage, server: Server) -> None:
    switch(chat).focus()
    chat.page.keyboard.press("Space")
    expect(switch(chat)).to_be_checked()
    chat.ask("hello")
    chat.ended()
    chat.page.reload()
    expect(switch(chat)).to_be_checked()
    switch(chat).focus()
    chat.page.keyboard.press("Space")
    chat.ask("hello again")
    chat.ended()
    chosen = "SELECT tools FROM chat_conversation ORDER BY updated DESC LIMIT 1"
    assert server.database.value(chosen) == "[]"


def test_the_own_chats_are_a_choice_of_the_chat_too(chat: ChatPage, server: Server) -> None:
    dialog = open_instructions(chat.page)
    dialog.get_by_label("Replies can search my other chats").check()
    chat.page.keyboard.press("Escape")
    chat.ask("hello")
    chat.ended()
    chosen = "SELECT tools FROM chat_conversation ORDER BY updated DESC LIMIT 1"
    assert server.database.value(chosen) == '["search_my_chats"]'


def test_what_a_model_calls_is_text_on_the_page(chat: ChatPage) -> None:
    asked(chat, {"calls": searches("<img src=x onerror=alert(1)>")}, {"text": "Done."})
    chat.ended()
    chat.reply.locator(".steps > summary").click()
    expect(chat.reply.locator(".steps li").first).to_contain_text("<img src=x")
    expect(chat.reply.locator(".steps img")).to_have_count(0)
    assert re.search("1 search", chat.reply.locator(".steps > summary").inner_text())


@pytest.mark.parametrize(("chat", "chosen"), [(1280, "Allow once"), (390, "Don’t allow")], indirect=["chat"])
def test_the_person_is_asked_and_sees_what_would_be_sent(chat: ChatPage, chosen: str) -> None:
    url = f"https://web.example/?word=zinnober{'&more' * 40}"
    call = {"text": "I look.", "calls": [["read_page", {"url": url}]]}
    with chat.unaware():  # the stream tells it
        look(chat.page, hidden=True)
        asked(chat, call, {"text": "Then without."})
        expect(chat.page).to_have_title(re.compile("^● "))
        look(chat.page, hidden=False)
    form = chat.reply.locator(".steps form")
    expect(form).to_be_visible()
    assert form.get_by_role("button").evaluate_all("all => all.every((each) => each.offsetHeight >= 44)")
    expect(chat.reply.locator(".steps > summary")).to_contain_text("Waiting for your answer")
    expect(chat.reply.locator(".steps pre")).to_contain_text(url)
    expect(chat.reply).to_have_attribute("aria-busy", "false")
    assert chat.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    chat.page.reload()
    form.get_by_role("button", name=chosen).focus()
    chat.page.keyboard.press("Enter")
    chat.ended()
    expect(chat.reply).to_contain_text("Then without.")
    expect(chat.reply.locator(".steps li[data-state=failed]")).to_have_count(1)
    expect(form).to_have_count(0)
    expect(chat.reply.locator(".steps > summary")).to_be_focused()


def test_a_question_is_answered_without_scripts(chat: ChatPage, window: Window, server: Server) -> None:
    call = {"text": "I look.", "calls": [["read_page", {"url": "https://web.example/?a=1"}]]}
    asked(chat, call, {"text": "Then without."})
    expect(chat.reply.locator(".steps form")).to_be_visible()
    # As on a page that was made before the last words were stored.
    chat.reply.locator("[data-after]").evaluate("part => part.dataset.after = 0")
    chat.page.wait_for_url(re.compile("/c/"))
    page = window(server, "alice", at=chat.page.url.removeprefix(server.url), java_script_enabled=False)
    page.get_by_role("button", name="Don’t allow").click()
    chat.ended()
    expect(chat.reply).to_contain_text("Then without.")
    expect(chat.reply.locator(".steps")).to_have_count(1)
