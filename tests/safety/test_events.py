"""A model server's events that nobody knows: ignored by ours, and never passed on to a page."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage
from tests.fake_cloudflare.text_scenarios import says_line
from tests.safety.browser_watch import Watch
from tests.support.server import Server

Opens = Callable[[str], Watch]
OURS = {"meta", "message", "done"}
SCRIPT = "<script>top.__pwned=1</script><img src=x onerror=top.__pwned=1>"
ODD = says_line(SCRIPT).replace("says", "odd_events")


def test_strange_events_are_dropped(server: Server) -> None:
    stream = server.person("alice").asked(ODD)
    assert stream.text == "before after"
    assert set(stream.names) <= OURS
    assert stream.done is not None
    assert stream.done["status"] == "complete"
    assert stream.finished


def test_strange_events_do_nothing_in_a_page(watched: Opens) -> None:
    window = watched("alice")
    window.page.goto("/")
    chat = ChatPage(window.page)
    chat.ask(ODD)
    assert chat.ended() == "before after"
    window.look()
    window.page.reload()
    window.look()
    assert ChatPage(window.page).text == "before after"


def test_an_error_that_holds_a_script_is_told_without_it(server: Server, watched: Opens) -> None:
    window = watched("alice")
    window.page.goto("/")
    chat = ChatPage(window.page)
    chat.ask(says_line(SCRIPT).replace("says", "denies"))
    chat.ended("failed")
    # The message that the server sends about it is checked, too.
    expect(chat.reply.get_by_role("button", name="Another model", exact=True)).to_be_visible()
    window.look()
    window.page.reload()
    window.look()
