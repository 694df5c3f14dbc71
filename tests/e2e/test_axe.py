"""Every state of the chat fits, and axe-core finds nothing on it. Pages at rest: test_every_page.py."""

from collections.abc import Callable

import pytest
from django.test import RequestFactory
from playwright.sync_api import Page, expect

from chat.views.requests.errors import refuse
from tests.admin.seed_cli import plant
from tests.e2e.axe import WINDOW, findings
from tests.e2e.chat_page import WHY, ChatPage, Window, open_instructions, question
from tests.e2e.input_methods import MOUSE
from tests.e2e.sessions import set_up_path
from tests.e2e.sidebar_page import Shell, conversations, drop
from tests.fake_cloudflare.text_scenarios import says_line
from tests.fake_cloudflare.tool_scenarios import turns_line
from tests.support.server import Server

DESK, PHONE = 1280, 390
WIDTHS = pytest.mark.parametrize("width", [DESK, PHONE])  # where a phone shows something else
MARKDOWN = """# A heading

Some *words*, a [link](https://example.org/) and `code`.

## Below it

- one
- [x] two

> said by another

| day | what | to do | and | when | on | this | day |
|---|---|---|---|---|---|---|---|
| 1 | feed | it | 2 | 3 | 4 | 5 | 6 |

```python
def rest(n: int) -> str:  # a comment that goes on and on and on, so that the code has to scroll on a phone
    return "weeks" * n
```

```html
<h1>A page</h1>
```

Inline $x^2$, and

\\[ \\frac{a}{b} = \\sqrt{2} \\]

1. A footnote.[^1]

[^1]: Here.
"""
PLANTED = """
from chat.models import Invite
long = talk("alice", "A long one", 130)
invite = Invite(made_by=person("root"))
token = invite.generate_token()
invite.save()
print(token, long.pk)
"""


def fine(page: Page) -> None:
    """No finding, and nothing that stands out of the page."""
    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def fine_at_each_width(page: Page) -> None:
    for width in (DESK, PHONE):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function("width => innerWidth === width", arg=width)
        fine(page)


@pytest.fixture(scope="module")
def planted(server: Server) -> list[str]:
    """An invitation's token, and the key of a long conversation."""
    return plant(server, PLANTED)


@pytest.fixture
def open_chat(window: Window, server: Server) -> Callable[..., ChatPage]:
    return lambda: ChatPage.open(window, server, **WINDOW)


def test_signing_in(window: Window, server: Server) -> None:
    page = window(server, at="/accounts/login/", **WINDOW)
    fine(page)
    page.get_by_label("Name or email").fill("bob")
    page.get_by_label("Password", exact=True).fill("not this one")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    fine(page)


def test_setting_up(window: Window, fresh_server: Server) -> None:
    page = window(fresh_server, at=set_up_path(fresh_server), **WINDOW)
    fine(page)
    page.get_by_label("Name", exact=True).fill("ada")
    page.get_by_label("Password", exact=True).fill("short")
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_text("too short")).to_be_visible()
    fine(page)


def test_an_invitation_of_who_has_an_account(window: Window, server: Server, planted: list[str]) -> None:
    page = window(server, "bob", at=f"/accounts/invite/{planted[0]}/", **WINDOW)
    fine(page)
    page.goto("/accounts/invite/nonsense/")
    fine(page)


def serve_refusal(page: Page, status: int, body: str) -> None:
    page.route("**/refused/", lambda route: route.fulfill(status=status, content_type="text/html", body=body))


def test_errors(window: Window, server: Server) -> None:
    page = window(server, **WINDOW)
    refused = RequestFactory(headers={"accept": "text/html"}).get("/refused/")
    for status in (400, 403, 404, 413, 429, 500, 503):
        seconds = 90 if status in (429, 503) else None
        body = refuse(refused, status, retry_after=seconds).content.decode()
        serve_refusal(page, status, body)
        shown = page.goto("/refused/")
        assert shown is not None
        assert shown.status == status
        expect(page.get_by_role("link", name="Back to chat")).to_be_visible()
        assert findings(page) == [], status


@pytest.mark.parametrize(("scenario", "shown"), [("first=600", ".waiting"), ("delay=0.05", ".prose > p")])
def test_a_reply_that_is_waited_for_or_grows_and_is_stopped(
    open_chat: Callable[..., ChatPage], scenario: str, shown: str
) -> None:
    chat = open_chat()
    chat.ask(question(f"words tokens=4000 {scenario}"))
    expect(chat.reply.locator(shown)).to_be_visible()
    fine_at_each_width(chat.page)
    chat.stop.click()
    chat.ended("stopped")
    fine_at_each_width(chat.page)


def test_messages_that_wait_for_a_reply(open_chat: Callable[..., ChatPage]) -> None:
    chat = open_chat()
    chat.ask(question("words tokens=4000 delay=0.05"))
    chat.grown_to(5)
    for text in ("And then?", "And after that?"):
        chat.ask(text)
    row = chat.page.locator("#queue li")
    expect(row).to_have_count(2)
    row.last.get_by_role("button", name="Edit").click()
    fine_at_each_width(chat.page)
    chat.stop.click()
    expect(chat.page.get_by_role("button", name="Send now")).to_be_visible()
    fine_at_each_width(chat.page)


def test_a_finished_reply_of_every_kind_of_block(open_chat: Callable[..., ChatPage]) -> None:
    chat = open_chat()
    chat.asked(says_line(MARKDOWN))
    fine_at_each_width(chat.page)
    chat.reply.get_by_role("button", name="Bad reply").click()
    expect(chat.page.get_by_label(WHY)).to_be_visible()
    chat.reply.get_by_role("button", name="Run", exact=True).click()
    expect(chat.page.locator(".beside iframe")).to_be_visible()
    fine_at_each_width(chat.page)
    for view in ("Text", "Edit"):
        chat.page.get_by_role("link", name=view, exact=True).click()
        fine_at_each_width(chat.page)
    chat.page.locator(".beside [data-do=close]").click()
    chat.reply.get_by_role("button", name="Close").click()
    expect(chat.page.get_by_label(WHY)).to_have_count(0)  # and the focus was moved
    chat.page.goto("/")  # where no edge of the window covers half of a button
    chat.asked(question("reasoning think=5 tokens=5"))
    chat.reply.locator("[data-part=thinking]").click()
    fine_at_each_width(chat.page)


@pytest.mark.parametrize(
    ("scenario", "status"),
    [("status code=5007", "failed"), ("cut after=3", "interrupted"), ("length", "truncated")],
)
def test_a_reply_that_did_not_end_well(
    open_chat: Callable[..., ChatPage], scenario: str, status: str
) -> None:
    chat = open_chat()
    chat.asked(question(scenario), status)
    if status == "failed":
        expect(chat.reply.locator(".retry:not([inert])")).to_have_count(1)  # its words are fetched
    fine(chat.page)


def test_an_edit_and_its_versions(open_chat: Callable[..., ChatPage]) -> None:
    chat = open_chat()
    chat.asked("Hello")
    chat.questions.last.get_by_role("button", name="Edit").click()
    box = chat.page.get_by_role("textbox", name="Edit your message")
    expect(box).to_be_focused()
    fine_at_each_width(chat.page)
    box.fill("Hello again")
    chat.page.get_by_role("button", name="Save and send").click()
    expect(chat.page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    chat.ended()
    fine_at_each_width(chat.page)
    chat.reply.get_by_role("button", name="Regenerate with another model").click()
    picker = chat.page.get_by_role("dialog", name="Try with another model")
    picker.get_by_role("button", name="All models").click()
    expect(picker.get_by_role("radio").first).to_be_visible()
    fine_at_each_width(chat.page)
    expect(picker).to_be_visible()


@WIDTHS
def test_the_dialogs_and_the_menus(window: Window, server: Server, width: int) -> None:
    drop(server.database, "bob")
    key = conversations(server.database, "bob", ["Sailing", "Cooking"])[0]
    page = window(server, "bob", at=f"/c/{key}/", width=width, **WINDOW)
    shell = Shell(page, MOUSE)
    page.get_by_role("button", name="Model:").click()
    expect(shell.picker.get_by_role("button", name="Careful")).to_be_visible()
    fine(page)
    shell.picker.get_by_role("button", name="All models").click()
    expect(shell.picker.get_by_role("radio").first).to_be_visible()
    fine(page)
    shell.picker.get_by_role("searchbox").fill("no such model")
    expect(shell.picker.get_by_text("No model matches. Try a shorter word.")).to_be_visible()
    fine(page)
    shell.picker.get_by_role("searchbox").fill("")
    page.keyboard.press("Escape")
    open_instructions(page)
    fine(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="More", exact=True).click()
    expect(page.get_by_text("Delete this chat")).to_be_visible()
    fine(page)


@WIDTHS
def test_the_settings_over_the_chat(window: Window, server: Server, width: int) -> None:
    page = window(server, "bob", at="/", width=width, **WINDOW)
    if width == PHONE:
        page.get_by_role("button", name="Chats", exact=True).click()
    page.get_by_role("link", name="Settings", exact=True).click()
    dialog = page.get_by_role("dialog", name="Settings")
    for section in dialog.get_by_role("navigation").get_by_role("link").all():
        section.click()
        expect(section).to_have_attribute("aria-current", "page")
        fine(page)


@WIDTHS
def test_the_list_its_options_and_what_was_deleted(window: Window, server: Server, width: int) -> None:
    drop(server.database, "bob")
    conversations(server.database, "bob", ["Sailing", "Cooking"])
    page = window(server, "bob", at="/", width=width, **WINDOW)
    if width == PHONE:
        page.get_by_role("button", name="Chats", exact=True).click()
    sailing = page.locator("#conversations").get_by_role("link", name="Sailing")
    expect(sailing).to_be_visible()
    sailing.hover()
    fine(page)
    for option in ("Rename", "Delete"):
        sailing.hover()
        page.get_by_role("button", name="Options for Sailing").click()
        expect(page.get_by_role("menuitem", name=option)).to_be_visible()
        fine(page)
        page.get_by_role("menuitem", name=option).click()
        if option == "Rename":
            expect(page.get_by_role("textbox", name="Title of this chat")).to_be_visible()
            fine(page)
            page.keyboard.press("Escape")
    page.get_by_role("button", name="Undo").focus()  # then the offer stays
    fine(page)


@WIDTHS
def test_the_account_menu_and_the_first_steps(window: Window, server: Server, width: int) -> None:
    page = window(server, "root", at="/", width=width, **WINDOW)
    expect(page.get_by_role("heading", name="Set up this site")).to_be_visible()
    fine(page)
    if width == PHONE:
        page.get_by_role("button", name="Chats", exact=True).click()
    page.get_by_role("button", name="Account:").click()
    expect(page.get_by_role("menuitem", name="Sign out")).to_be_visible()
    fine(page)


def test_a_notice_and_no_network(open_chat: Callable[..., ChatPage]) -> None:
    chat = open_chat()
    chat.ask("x" * 200_001)
    expect(chat.notice).to_contain_text("200,000")
    chat.box.fill("")
    fine(chat.page)
    chat.page.context.set_offline(True)
    expect(chat.page.locator("#offline")).to_be_visible()
    fine(chat.page)


def test_signing_in_again_in_the_page(open_chat: Callable[..., ChatPage]) -> None:
    chat = open_chat()
    chat.page.context.clear_cookies(name="sessionid")
    chat.ask("Hello")
    expect(chat.page.get_by_role("dialog", name="Sign in again")).to_be_visible()
    fine(chat.page)


def test_a_long_conversation(window: Window, server: Server, planted: list[str]) -> None:
    page = window(server, "alice", at=f"/c/{planted[1]}/", **WINDOW)
    expect(page.locator("article").last).to_be_visible()
    fine_at_each_width(page)


def test_the_bar_and_a_chart_on_a_phone(window: Window, server: Server) -> None:
    plant(server, "talk('bob', created=datetime.now(UTC))")
    page = window(server, "root", at="/admin/", width=PHONE, **WINDOW)
    page.locator(".chart summary").first.click()
    expect(page.locator(".chart table").first).to_be_visible()
    fine(page)
    page.get_by_role("button", name="Menu").click()
    bar = page.get_by_role("navigation", name="Administration")
    expect(bar.get_by_role("link", name="Overview")).to_have_attribute("aria-current", "page")
    fine(page)
    bar.get_by_role("link", name="Invitations").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Invitations")


def test_the_steps_of_a_reply(chat: ChatPage) -> None:
    chat.page.get_by_role("switch", name="Web").check(force=True)
    calls = [["web_search", {"query": query}] for query in ("walnut", "boat", "shed")]
    turns = [{"text": "Let me look.", "calls": calls}, {"text": "It is in the shed [1]. " * 30}]
    chat.asked(f"Where is the boat?\n{turns_line(*turns)}")
    chat.reply.locator(".steps > summary").click()
    fine_at_each_width(chat.page)
