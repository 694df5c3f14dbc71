"""A reply that was stopped or cut goes on, and nobody can see where."""

from playwright.sync_api import Locator, expect

from tests.e2e.chat_page import DOUBLE_TAP_MILLISECONDS, ChatPage, Window, question, text_of, words
from tests.e2e.input_methods import MOUSE, MOUSE_ELSEWHERE, Way, delete, markup, named
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

BEGUN = "# A plan\n\n1. Find **bread\n"
REST = " and butter**\n2. Eat\n\n```python\nprint('bread')\n```\n\nThat is *all*.\n"


def going_on(first: str, then: str) -> str:
    """A question whose reply is `first`, and `then` once it is told to go on."""
    return f"Make a plan.\nfake: {first}\n{then.replace('fake:', 'fake-then:')}"


def reloaded(chat: ChatPage) -> Locator:
    """The last reply after a reload, which shows the same text and facts."""
    facts = chat.reply.locator("[data-part=reply-meta]")
    streamed, facts_text = markup(chat.reply), str(facts.text_content())
    chat.page.reload()
    assert markup(chat.reply) == streamed
    expect(facts).to_have_text(facts_text)
    return chat.reply


@MOUSE_ELSEWHERE
def test_a_stopped_reply_goes_on_where_it_stood(window: Window, server: Server, way: Way) -> None:
    chat = ChatPage.open(window, server, **way.window)
    chat.ask(going_on("words tokens=2000 delay=0.02", says_line(" and the end.", size=3, delay=0.01)))
    chat.grown_to(60)
    chat.page.wait_for_timeout(DOUBLE_TAP_MILLISECONDS)
    way.press(chat.stop)
    begun = chat.ended("stopped")
    way.press(named(chat.reply, "Continue"))
    whole = chat.ended()
    assert whole == f"{begun} and the end."
    expect(chat.replies).to_have_count(1)
    expect(named(chat.reply, "Continue")).to_have_count(0)
    assert text_of(reloaded(chat)) == whole


def test_a_continuation_joins_inside_a_list(chat: ChatPage) -> None:
    begun = says_line(BEGUN.rstrip("\n"), size=4, delay=0.005, reason="length")
    chat.asked(going_on(begun.removeprefix("fake: "), says_line(REST, size=2, delay=0.01)), "truncated")
    expect(chat.reply.get_by_text("Cut off at the length limit.")).to_be_visible()
    MOUSE.press(named(chat.reply, "Continue"))
    chat.ended()
    expect(chat.reply.locator("ol > li")).to_have_count(2)
    expect(chat.reply.locator("strong")).to_have_text("bread and butter")
    expect(chat.reply.locator("figure.code code")).to_contain_text("print('bread')")
    reloaded(chat)


def test_a_continuation_survives_a_reload_and_a_second_tab(chat: ChatPage) -> None:
    chat.ask(going_on("length tokens=20", says_line(" more" * 200, size=5, delay=0.01)))
    begun = chat.ended("truncated")
    MOUSE.press(named(chat.reply, "Continue"))
    chat.grown_to(len(begun) + 60)
    tab = chat.another_tab()
    chat.page.reload()
    assert chat.ended() == tab.ended() == begun + " more" * 200
    assert markup(chat.reply) == markup(tab.reply)


def test_the_focus_goes_to_the_box_where_escape_and_stop_are(chat: ChatPage) -> None:
    chat.asked(going_on("length tokens=20", says_line(" more" * 2000, size=5, delay=0.01)), "truncated")
    button = named(chat.reply, "Continue")
    button.focus()
    chat.page.keyboard.press("Enter")
    expect(chat.box).to_be_focused()
    chat.stop.click()
    chat.ended("stopped")
    expect(button).to_be_visible()


def test_only_the_last_reply_offers_to_go_on(chat: ChatPage) -> None:
    chat.asked(question("length tokens=5"), "truncated")
    expect(named(chat.reply, "Continue")).to_be_visible()
    chat.ask("Thank you")
    expect(chat.replies).to_have_count(2)
    chat.ended()
    expect(named(chat.replies.first, "Continue")).to_have_count(0)
    chat.page.reload()
    expect(named(chat.replies.first, "Continue")).to_have_count(0)


def test_a_reply_that_cannot_go_on_stays_as_it_was(chat: ChatPage) -> None:
    chat.asked(question("length tokens=5"), "truncated")
    delete(chat)
    MOUSE.press(named(chat.reply, "Continue"))
    expect(chat.notice).not_to_be_empty()
    assert chat.ended("truncated") == words(5)
    expect(named(chat.reply, "Continue")).to_be_focused()
