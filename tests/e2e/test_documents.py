"""Documents in a question: added, looked at, removed, sent, edited, and too long for a model."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.e2e.axe import WINDOW, findings
from tests.e2e.chat_page import ChatPage, Window, question
from tests.e2e.files_page import PHOTO, fire
from tests.e2e.input_methods import KEYBOARD, MOUSE_ELSEWHERE, Way
from tests.fake_cloudflare.server import Fake
from tests.files import documents
from tests.support.server import Server
from tests.support.waiting import until

SMALL, LARGE = "GLM 4.7 Flash", "Kimi K2.6"  # by their context windows
REPORT = {
    "name": "report.pdf",
    "mimeType": "application/pdf",
    "buffer": documents.pdf("Lisbon spent 4200 euros.", "Porto spent 900 euros."),
}
NOTES = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"The bridge opens in May."}
CODE = {"name": "main.rs", "mimeType": "", "buffer": b"fn main() {}"}
SONG = {"name": "song.mp3", "mimeType": "audio/mpeg", "buffer": b"ID3\x04\x00\x00" + bytes(range(256))}
BOOK = {"name": "book.txt", "mimeType": "text/plain", "buffer": b"Call me Ishmael, said the whale. " * 9_000}
OWN = re.compile("attachment|upload")
SHORT = "words tokens=3"


TOO_LONG = "Too long to send whole. The parts that fit your question are sent."


class Documents(ChatPage):
    """A chat page with the documents of its message box."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.input = page.locator("#files")
        self.tray = page.locator("#composer .tray")
        self.added = self.tray.locator(".document a:visible")
        self.sent = page.locator("article.question .documents a:visible")
        self.hint = self.tray.locator(".tray-hint")

    def choose(self, model: str) -> None:
        self.page.locator("#pick").click()
        self.page.get_by_role("button", name="All models").click()
        self.page.locator("#models").get_by_role("radio", name=model).click()
        expect(self.page.locator("#models")).to_be_hidden()

    def add(self, *files: dict[str, Any], shown: int | None = None) -> None:
        before = self.added.count()
        self.input.set_input_files(list(files))  # type: ignore[arg-type]
        expect(self.added).to_have_count(before + len(files) if shown is None else shown)

    def ask_shortly(self, text: str) -> None:
        self.ask(question(SHORT, text))


@pytest.fixture(scope="module")
def chromium(isolating_chromium: Browser) -> Browser:
    """A file opens in a new tab, as a document of its own kind."""
    return isolating_chromium


@pytest.fixture
def chat(window: Window, server: Server) -> Documents:
    return Documents.open(window, server)


def chips(chat: Documents) -> list[str]:
    """Return the documents under the question as the page holds them."""
    return chat.page.locator("article.question .documents").evaluate_all(
        "(lists) => lists.map((list) => list.outerHTML.replace(/\\s+</g, '<'))"
    )


@MOUSE_ELSEWHERE
def test_documents_are_added_read_sent_and_edited(
    window: Window, server: Server, fake: Fake, way: Way
) -> None:
    chat = Documents.open(window, server, **way.window)
    loaded: list[Request] = []
    chat.page.on("request", lambda request: loaded.append(request))
    with chat.page.expect_file_chooser() as chooser:
        way.press(chat.page.locator(".attach") if way is not KEYBOARD else chat.input)
    assert not [request.url for request in loaded if OWN.search(request.url)]
    chooser.value.set_files([REPORT, NOTES])  # type: ignore[list-item]
    expect(chat.added).to_have_count(2)
    expect(chat.tray).to_contain_text("2 pages")
    expect(chat.page.locator("#status")).to_have_text("notes.txt added")
    with chat.page.context.expect_page() as other:
        way.press(chat.tray.get_by_role("link", name="View text of report.pdf"))
    expect(other.value.locator("#page-2")).to_contain_text("Porto spent 900 euros.")
    other.value.close()
    chat.ask_shortly("What did Porto spend?")
    chat.ended()
    expect(chat.tray).to_be_hidden()
    expect(chat.sent).to_have_count(2)
    assert "Porto spent 900 euros." in str(fake.calls[-1]["body"]["messages"])
    as_sent = chips(chat)
    chat.page.reload()
    assert chips(chat) == as_sent != []
    way.press(chat.questions.get_by_role("button", name="Edit", exact=True))
    edit = chat.page.locator(".edit")
    expect(edit.locator(".document a:visible")).to_have_count(2)
    way.press(edit.get_by_role("button", name="Remove notes.txt"))
    expect(edit.get_by_role("button", name="Remove report.pdf")).to_be_focused()
    way.press(edit.get_by_role("button", name="Save and send"))
    expect(chat.sent).to_have_count(1)
    expect(chat.sent).to_contain_text("report.pdf 2 pages")
    chat.ended()
    chat.page.reload()
    expect(chat.sent).to_have_count(1)


@pytest.mark.parametrize("kind", ["drop", "paste"])
def test_a_refused_file_keeps_the_others(chat: Documents, kind: str) -> None:
    chat.add(REPORT)
    address = chat.page.url
    assert kind == "paste" or fire(chat.page, "dragover", NOTES)
    # A file manager may also copy the file's name, which is not an answer to the question.
    texts = ["notes.txt"] if kind == "paste" else []
    until(lambda: fire(chat.page, kind, NOTES, texts=texts))  # once the module that listens has run
    expect(chat.added).to_have_count(2)
    assert fire(chat.page, kind, SONG)
    expect(chat.notice).to_contain_text("song.mp3: This kind of file can’t be read here.")
    expect(chat.added).to_have_count(2)
    broken = {**REPORT, "name": "broken.pdf", "buffer": b"%PDF-1.7 nothing"}
    chat.add(broken, CODE, SONG, shown=3)
    expect(chat.notice).to_contain_text(re.compile("broken.pdf: .* song.mp3: "))
    expect(chat.tray).to_contain_text("main.rs")
    # A picture and a document that the browser takes for another are what the server says.
    chat.input.set_input_files(
        [{**PHOTO, "mimeType": ""}, {**NOTES, "name": "odd.txt", "mimeType": "image/png"}]  # type: ignore[list-item]
    )
    expect(chat.tray.locator("img[src]")).to_have_count(1)
    expect(chat.added).to_have_count(4)
    assert chat.page.url == address


def test_a_document_too_long_for_the_model_is_said(chat: Documents) -> None:
    chat.choose(SMALL)
    chat.add(BOOK, NOTES)
    expect(chat.hint).to_contain_text(TOO_LONG)
    expect(chat.page.locator("#status")).to_have_text(f"notes.txt added. {TOO_LONG}")
    chat.input.set_input_files([PHOTO])  # type: ignore[list-item]
    expect(chat.page.locator("#status")).to_have_text(
        re.compile(f"because “Everyday” can’t see pictures. {TOO_LONG}")
    )
    chat.tray.get_by_role("button", name="Remove cat.jpg").click()
    # All models take documents, so that none is greyed out.
    chat.hint.get_by_role("button", name="Choose another model").click()
    chat.page.get_by_role("button", name="All models").click()
    expect(chat.page.locator(".model-row [type=radio]:disabled")).to_have_count(0)
    chat.page.locator("#models").get_by_role("radio", name=LARGE).click()
    expect(chat.hint).to_be_hidden()
    chat.choose(SMALL)
    expect(chat.page.locator("#status")).to_contain_text(TOO_LONG)
    chat.tray.get_by_role("button", name="Remove book.txt").click()
    expect(chat.hint).to_be_hidden()


def test_the_cost_of_a_document_is_said_for_the_chosen_model(chat: Documents) -> None:
    cost = chat.tray.locator(".document-cost")
    chat.choose(SMALL)  # $0.06 for a million tokens of input
    chat.add({**BOOK, "buffer": BOOK["buffer"][:150_000]}, NOTES)
    expect(cost).to_have_text(["", ""])  # less than a cent
    row = chat.tray.locator(".document").first
    expect(row).to_have_attribute(
        "title", re.compile(rf"^5\dK tokens. Cost with each question to {SMALL}: \$0.003$")
    )
    chat.choose(LARGE)  # $0.95
    expect(cost).to_have_text(["$0.0475", ""])
    chat.choose(SMALL)
    chat.add({**BOOK, "name": "other.txt"})
    expect(chat.hint).to_be_visible()
    expect(cost.first).to_have_text(re.compile(r"^5\dK tokens$"))
    expect(row).to_have_attribute("title", re.compile(r"up to \$0.0013$"))


def test_a_name_from_right_to_left_is_not_below_the_button(chat: Documents) -> None:
    chat.add({**NOTES, "name": "עותק של חוזה השכירות החדש לשנה הבאה.txt"})
    name = chat.tray.locator(".attachment-name").bounding_box()
    button = chat.tray.get_by_role("button", name=re.compile("^Remove")).bounding_box()
    assert name is not None
    assert button is not None
    assert name["x"] + name["width"] <= button["x"] + 1


def test_documents_of_the_shown_branch_count_for_the_model(chat: Documents) -> None:
    chat.choose(LARGE)
    half = {**BOOK, "buffer": BOOK["buffer"][:150_000]}
    chat.add(half)
    chat.ask_shortly("Who speaks?")
    chat.ended()
    chat.choose(SMALL)
    other = {**half, "name": "second.txt", "buffer": half["buffer"] + b"The end."}
    chat.add(other)
    expect(chat.hint).to_contain_text(TOO_LONG)
    expect(chat.tray.locator(".document")).to_have_attribute("title", re.compile(r"up to \$0.0013$"))
    chat.tray.get_by_role("button", name="Remove second.txt").click()
    expect(chat.tray).to_be_hidden()
    # An edited question replaces its own documents, which count once, in its tray.
    chat.questions.get_by_role("button", name="Edit", exact=True).click()
    edit = chat.page.locator(".edit")
    expect(edit.locator(".document")).to_have_attribute("title", re.compile(r": \$0.003$"))
    expect(edit.locator(".tray-hint")).to_be_hidden()
    edit.get_by_role("button", name="Remove book.txt").click()
    edit.get_by_role("button", name="Save and send").click()
    expect(chat.sent).to_have_count(0)
    chat.ended()
    chat.add(other)
    expect(chat.hint).to_be_hidden()
    chat.questions.get_by_role("button", name="Previous version").click()
    expect(chat.sent).to_have_count(1)
    chat.box.focus()
    expect(chat.hint).to_contain_text(TOO_LONG)


def test_drafts_and_the_queue_keep_documents(chat: Documents) -> None:
    chat.add(REPORT)
    chat.box.fill(question(SHORT, "Well?"))
    chat.page.wait_for_timeout(400)  # until the draft is stored
    chat.page.reload()
    expect(chat.added).to_have_count(1)
    expect(chat.tray).to_contain_text("2 pages")
    chat.box.fill(question("words tokens=4000 delay=0.05"))
    chat.box.press("Enter")
    chat.grown_to(5)
    chat.add(NOTES)
    chat.ask("And then?")
    expect(chat.page.locator("#queue")).to_contain_text("And then? 📄")
    expect(chat.tray).to_be_hidden()
    chat.page.get_by_role("button", name="Put back into the box").click()
    expect(chat.added).to_have_count(1)
    expect(chat.box).to_have_value("And then?")
    expect(chat.sent).to_contain_text("report.pdf")
    address = chat.added.get_attribute("href")
    with chat.page.expect_response(lambda response: response.request.method == "DELETE"):
        chat.tray.get_by_role("button", name="Remove notes.txt").click()
    expect(chat.box).to_be_focused()
    assert chat.page.request.get(str(address)).status == 404


def test_a_document_alone_gives_the_conversation_its_name(chat: Documents) -> None:
    chat.add(REPORT)
    chat.send.click()
    chat.ended()
    expect(chat.page.locator("#conversations li").first).to_contain_text("report.pdf")
    chat.page.reload()
    expect(chat.page.locator("#conversations li").first).to_contain_text("report.pdf")


def test_a_file_sent_in_another_tab_is_named_and_leaves(chat: Documents) -> None:
    chat.add(REPORT, NOTES)
    chat.box.fill(question(SHORT, "Well?"))
    chat.page.wait_for_timeout(600)  # the draft is saved
    other = Documents(chat.page.context.new_page())
    other.page.goto(chat.page.url)
    expect(other.added).to_have_count(2)
    other.tray.get_by_role("button", name="Remove notes.txt").click()
    other.ask_shortly("First")
    other.ended()
    chat.box.press("Enter")
    expect(chat.page.locator("#notice")).to_have_text("notes.txt: A file isn’t there anymore. Add it again.")
    expect(chat.added).to_have_count(1)
    chat.box.press("Enter")
    expect(chat.page.locator("#notice")).to_contain_text("Already sent with another message: report.pdf.")
    expect(chat.tray).to_be_hidden()
    chat.box.press("Enter")
    chat.ended()


def test_a_file_that_is_gone_leaves_the_edit(chat: Documents) -> None:
    chat.ask_shortly("One")
    chat.ended()
    chat.questions.get_by_role("button", name="Edit", exact=True).click()
    edit = chat.page.locator(".edit")
    edit.locator("input[type=file]").set_input_files([NOTES])  # type: ignore[list-item]
    shown = edit.locator(".document a:visible")
    expect(shown).to_have_count(1)
    chat.page.evaluate(
        "url => fetch(url, {method: 'DELETE', headers: {'X-CSRFToken': "
        "document.querySelector('[name=csrfmiddlewaretoken]').value, Accept: 'application/json'}})",
        shown.get_attribute("href").removesuffix("text/"),
    )
    edit.get_by_role("button", name="Save and send").click()
    expect(chat.page.locator("#notice")).to_contain_text("notes.txt: ")
    expect(shown).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(window: Window, server: Server, width: int) -> None:
    chat = Documents.open(window, server, width=width, **WINDOW)
    chat.add(REPORT, BOOK)
    assert findings(chat.page) == []
    chat.ask_shortly("Well?")
    chat.ended()
    assert findings(chat.page) == []
    chat.questions.get_by_role("button", name="Edit", exact=True).click()
    expect(chat.page.locator(".edit .document a:visible")).to_have_count(2)
    assert findings(chat.page) == []


PASTE = """text => {
  const data = new DataTransfer();
  data.setData('text/plain', text);
  const paste = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
  return !document.querySelector('.edit textarea, #content').dispatchEvent(paste);
}"""


def test_a_long_paste_is_a_card_that_can_become_text_again(window: Window, server: Server) -> None:
    chat = Documents.open(window, server)
    chat.ready()
    text = "\n".join(f"line {n} of it" for n in range(812))
    chat.box.fill("Sum it up")
    assert not chat.page.evaluate(PASTE, "a short text")
    assert chat.page.evaluate(PASTE, text)
    expect(chat.tray).to_contain_text("Pasted text, 812 lines")
    card = chat.tray.get_by_role("button", name="Show as text")
    expect(card).to_be_visible()
    expect(chat.box).to_have_value("Sum it up")
    chat.page.reload()
    card.click()
    expect(chat.box).to_have_value(f"Sum it up\n\n{text}")
    expect(card).to_have_count(0)
    chat.box.fill("")
    chat.ready()
    assert chat.page.evaluate(PASTE, text)
    expect(card).to_be_visible()
    chat.ask("Sum it up")
    expect(chat.sent).to_contain_text("Pasted text, 812 lines")


def test_a_long_paste_stays_a_text_where_it_would_be_lost(window: Window, server: Server) -> None:
    chat = Documents.open(window, server)
    chat.ready()
    chat.page.context.set_offline(True)
    assert not chat.page.evaluate(PASTE, "x" * 5_000)


def test_a_long_paste_outlives_a_reload_during_its_upload(window: Window, server: Server) -> None:
    chat = Documents.open(window, server)
    chat.ready()
    chat.page.route("**/attachments/", lambda route: route.request.method == "POST" or route.continue_())
    text = "\n".join(f"line {n} of it" for n in range(812))
    chat.box.fill("Sum it up")
    assert chat.page.evaluate(PASTE, text)
    expect(chat.tray.locator("progress")).to_be_visible()
    chat.page.reload()
    expect(chat.box).to_have_value(f"Sum it up\n\n{text}")
    chat.ready()
    assert chat.page.evaluate(PASTE, text)
    chat.tray.get_by_role("button", name="Remove").click()
    chat.page.reload()
    expect(chat.box).to_have_value(f"Sum it up\n\n{text}")  # once: the other one was removed
    chat.box.fill("")
    chat.ask_shortly("Hello")
    chat.ended()
    chat.questions.get_by_role("button", name="Edit", exact=True).click()
    box = chat.page.locator(".edit textarea")
    before = box.input_value()
    assert chat.page.evaluate(PASTE, text)
    expect(chat.page.locator(".edit progress")).to_be_visible()
    chat.page.reload()
    expect(box).to_have_value(f"{before}\n\n{text}")
