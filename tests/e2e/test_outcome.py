"""A reply that failed: what a person reads and can press, at once and after a reload."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.chat_page import ChatPage, Window, question, words
from tests.support.server import Server

FAILURES = [3036, 5021, 2016, 5035, 10000]


def outcome_html(chat: ChatPage) -> str:
    """The part that says how it ended, without what differs each time."""
    html = chat.reply.locator("[data-part=outcome]").inner_html()
    return re.sub(r'value="\w{64}"|aria-disabled="\w+"|data-seconds="\d+"|(?<=Wait )[\d,]+|\s+', "", html)


def told(chat: ChatPage) -> None:
    """The server's own words are there."""
    expect(chat.reply.locator(".retry:not([inert])")).to_have_count(1)


def test_a_failure_reads_the_same_after_a_reload(chat: ChatPage) -> None:
    for code in FAILURES:
        chat.page.goto("/")
        chat.asked(question(f"status code={code}"), "failed")
        told(chat)
        before = outcome_html(chat)
        chat.page.reload()
        expect(chat.reply.locator("[data-action=wait][hidden]")).to_have_count(0)  # what counts down is here
        assert outcome_html(chat) == before
        for width in (390, 1280):
            chat.page.set_viewport_size({"width": width, "height": 800})
            chat.page.wait_for_function("width => innerWidth === width", arg=width)
            assert chat.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_question_can_be_shortened_from_below_its_failure(chat: ChatPage) -> None:
    chat.asked(question("status code=5021"), "failed")
    chat.reply.get_by_role("button", name="Shorten the message").click()
    box = chat.questions.last.get_by_role("textbox")
    box.fill("Shorter")
    box.press("Enter")
    assert chat.ended() == "You said: Shorter"


def test_another_model_is_one_press_and_a_choice_away(chat: ChatPage) -> None:
    chat.asked(question("words tokens=3") + "\nfake for glm-4.7-flash: status code=5028", "failed")
    told(chat)
    chat.reply.get_by_role("button", name="Another model", exact=True).click()
    picker = chat.page.get_by_role("dialog", name="Try with another model")
    picker.get_by_role("button", name="All models").click()
    picker.locator(".model-row").filter(has_text="GPT OSS 20B").locator("label").click()
    assert chat.ended() == words(3)
    expect(chat.reply.locator("[data-part=model]")).to_have_text("GPT OSS 20B")


def test_the_fallback_model_is_named_live_and_reloaded(
    window: Window, servers: Callable[..., Server]
) -> None:
    chat = ChatPage.open(window, servers(FALLBACK_MODELS="@cf/openai/gpt-oss-20b"), "bob")
    assert chat.asked(question("words tokens=3") + "\nfake for glm-4.7-flash: status code=3040") == words(3)
    for _ in range(2):
        because = "Answered by GPT OSS 20B, because GLM 4.7 Flash was busy."
        expect(chat.reply.get_by_text(because)).to_be_visible()
        expect(chat.reply.locator("[data-part=model]")).to_have_text("GPT OSS 20B")
        expect(chat.reply.get_by_role("heading")).to_have_text("GPT OSS 20B said")
        chat.page.reload()


def test_retry_works_by_keyboard_with_the_other_buttons(chat: ChatPage) -> None:
    chat.page.evaluate("AbortSignal.timeout = () => new AbortController().signal")  # on a busy machine
    held: list[Route] = []
    chat.page.route("**/outcome/", lambda route: held.append(route))
    with chat.page.expect_request("**/outcome/"):
        chat.asked(question("flaky fails=1 code=5007 key=pressed"), "failed")
    again = chat.reply.get_by_role("button", name="Try again", include_hidden=True)
    expect(again).to_be_hidden()
    again.focus()
    expect(again).not_to_be_focused()
    held.pop().continue_()
    told(chat)
    again.focus()
    expect(again).to_be_focused()
    chat.page.keyboard.press("Space")
    assert chat.ended() == words(5)


def test_it_tries_again_by_itself_only_if_asked_to(chat: ChatPage) -> None:
    chat.page.clock.install()
    chat.asked(question("flaky fails=1 code=3040 retry_after=30 key=waits"), "failed")
    told(chat)
    wait = chat.reply.get_by_role("button", name="Wait, then try again")
    expect(wait).to_contain_text(re.compile(r"Wait \d+ s, then try again"))
    expect(chat.reply.get_by_role("button", name="Try again", exact=True)).to_have_count(0)  # it would fail
    wait.click()
    expect(wait).to_have_attribute("aria-pressed", "true")
    chat.page.clock.run_for(1_000)
    expect(wait).to_contain_text(re.compile(r"Trying again in \d+ s"))
    chat.page.clock.run_for(32_000)
    assert chat.ended() == words(5)


def test_without_the_wait_button_nothing_is_retried(chat: ChatPage) -> None:
    chat.page.clock.install()
    chat.asked(question("flaky fails=1 code=3040 retry_after=30 key=leaves"), "failed")
    told(chat)
    chat.page.clock.run_for(40_000)
    expect(chat.reply.get_by_role("button", name="Wait, then try again")).to_have_count(0)
    expect(chat.reply).to_have_attribute("data-status", "failed")
    expect(chat.reply.get_by_role("button", name="Try again")).to_be_visible()


def test_the_countdown_is_there_after_a_reload(chat: ChatPage) -> None:
    chat.asked(question("status code=3040 retry_after=600"), "failed")
    told(chat)
    chat.page.reload()
    wait = chat.reply.get_by_role("button", name="Wait, then try again")
    expect(wait).to_contain_text(re.compile(r"Wait 5\d\d s"))


@pytest.mark.parametrize(
    ("scenario", "status"),
    [("status code=5035", "failed"), ("empty", "complete"), ("words tokens=3 first=600", "stopped")],
)
def test_there_is_one_way_to_try_again(chat: ChatPage, scenario: str, status: str) -> None:
    chat.ask(question(scenario))
    if status == "stopped":
        expect(chat.reply).to_have_attribute("data-run", re.compile("."))
        chat.stop.click()
    chat.ended(status)
    told(chat)
    expect(chat.reply.get_by_role("button", name="Try again")).to_be_visible()
    if status == "stopped":
        expect(chat.reply.get_by_role("button", name="Continue")).to_have_count(0)
    for name in ("Regenerate", "Regenerate with another model"):
        expect(chat.reply.get_by_role("button", name=name, exact=True)).to_be_hidden()
    chat.page.goto("/")
    chat.asked("Hello")
    expect(chat.reply.get_by_role("button", name="Regenerate", exact=True)).to_be_visible()
