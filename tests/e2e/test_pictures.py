"""Pictures in a question: added, described, removed, sent, edited and opened."""

import re
from collections.abc import Iterable

import pytest
from playwright.sync_api import Browser, Locator, Route, expect

from tests.e2e.axe import WINDOW, findings
from tests.e2e.chat_page import Window
from tests.e2e.files_page import BLIND, DRAWING, PHOTO, SEEING, Pictures
from tests.e2e.input_methods import KEYBOARD, MOUSE_ELSEWHERE, Way
from tests.support.people import PASSWORD
from tests.support.server import Server

UPLOAD = "**/attachments/"
OTHER_EYES = "Llama 4 Scout 17B 16E"
ATTACHMENT = re.compile("/attachments/[0-9a-f-]{36}/$")
OWN = re.compile("attachment|picture|upload")  # in the addresses of modules, styles and parts of pictures


@pytest.fixture(scope="module")
def chromium(isolating_chromium: Browser) -> Browser:
    """A file opens in a new tab, as a document of its own kind."""
    return isolating_chromium


@pytest.fixture
def chat(window: Window, server: Server) -> Pictures:
    return Pictures.seeing(window, server)


def in_view(images: Locator) -> Iterable[bool]:
    return images.evaluate_all("(all) => all.map((image) => image.complete && image.naturalWidth > 0)")


@MOUSE_ELSEWHERE
def test_pictures_are_added_described_sent_and_opened(window: Window, server: Server, way: Way) -> None:
    chat = Pictures.seeing(window, server, **way.window)
    loaded: list[str] = []
    chat.page.on("request", lambda request: loaded.append(request.url))
    with chat.page.expect_file_chooser() as chooser:
        way.press(chat.page.locator(".attach") if way is not KEYBOARD else chat.input)
    assert not [url for url in loaded if OWN.search(url)]
    chooser.value.set_files([PHOTO, DRAWING])
    expect(chat.added).to_have_count(2)
    way.press(chat.tray.get_by_role("button", name="Add a description: cat.jpg"))
    expect(chat.dialog.get_by_label("Description")).to_be_focused()
    chat.dialog.get_by_label("Description").fill("A cat on a mat")
    way.press(chat.dialog.get_by_role("button", name="Save"))
    expect(chat.tray).to_contain_text("A cat on a mat")
    chat.asked("What is this?")
    assert chat.text == "You said: What is this? I see 2 picture(s)."
    expect(chat.tray).to_be_hidden()
    for _again in range(2):
        expect(chat.sent).to_have_count(2)
        expect(chat.sent.first).to_have_attribute("alt", "A cat on a mat")
        chat.page.wait_for_function(
            "[...document.querySelectorAll('.pictures img')].every((i) => i.naturalWidth > 0)"
        )
        way.press(chat.page.get_by_role("link", name="A cat on a mat"))
        expect(chat.dialog.locator("img")).to_be_visible()
        assert all(in_view(chat.dialog.locator("img")))
        expect(chat.dialog.get_by_label("Description")).to_be_hidden()
        if way is KEYBOARD:
            chat.page.keyboard.press("Escape")
        else:
            way.press(chat.dialog.get_by_role("button", name="Close"))
        expect(chat.dialog).to_be_hidden()
        chat.page.reload()


def test_a_question_waits_for_each_description(chat: Pictures) -> None:
    """The model may get it instead of the picture."""
    held: list[Route] = []
    chat.add(PHOTO)
    chat.page.route(UPLOAD, lambda route: route.abort())
    chat.input.set_input_files([DRAWING])  # type: ignore[list-item]
    expect(chat.tray.get_by_role("button", name="Try again: plan.png")).to_be_visible()
    chat.page.route(
        ATTACHMENT, lambda route: route.continue_() if route.request.method == "GET" else held.append(route)
    )
    for description in ["A dog on a mat", "A cat on a mat"]:
        chat.describe(description)
    chat.ask("What is this?")
    expect(chat.notice).to_have_text("Some files aren’t added. Try them again, or remove them.")
    chat.tray.get_by_role("button", name="Remove plan.png").click()
    expect(chat.notice).to_be_empty()
    chat.box.press("Enter")
    expect(chat.notice).to_have_text("Wait until the files are saved.")
    with chat.page.expect_request(ATTACHMENT):
        held[0].continue_()
    chat.box.press("Enter")
    expect(chat.notice).to_have_text("Wait until the files are saved.")
    held[1].continue_()
    expect(chat.notice).to_be_empty()
    chat.box.press("Enter")
    chat.ended()
    expect(chat.sent).to_have_attribute("alt", "A cat on a mat")


def test_what_was_written_stays_until_it_is_saved(chat: Pictures) -> None:
    chat.add(PHOTO)
    chat.page.route(ATTACHMENT, lambda route: route.abort())
    chat.describe("A cat on a mat")
    expect(chat.notice).to_have_text("Can’t reach the server. Try again.")
    chat.page.unroute(ATTACHMENT)
    chat.tray.locator("[data-do=open]").click()
    expect(chat.dialog.get_by_label("Description")).to_have_value("A cat on a mat")
    chat.dialog.get_by_role("button", name="Save").click()
    expect(chat.added).to_have_attribute("alt", "A cat on a mat")
    expect(chat.notice).to_be_empty()


def test_the_notice_of_a_failed_save_goes_with_the_next_one(chat: Pictures) -> None:
    held: list[Route] = []
    chat.add(PHOTO)
    chat.page.route(
        ATTACHMENT, lambda route: route.continue_() if route.request.method == "GET" else held.append(route)
    )
    with chat.page.expect_request(lambda request: request.method == "POST"):
        chat.describe("A dog on a mat")
    chat.describe("A cat on a mat")
    with chat.page.expect_request(lambda request: request.method == "POST"):
        held[0].abort()
    expect(chat.notice).not_to_be_empty()
    held[1].continue_()
    expect(chat.added).to_have_attribute("alt", "A cat on a mat")
    expect(chat.notice).to_be_empty()


def test_a_pasted_picture_is_added_and_a_pasted_table_is_not(chat: Pictures) -> None:
    chat.ready()
    assert chat.fire("paste")
    expect(chat.added).to_have_count(1)
    assert not chat.fire("paste", PHOTO["buffer"], "A table of which an office program also copies a picture")
    assert chat.fire("paste", bytes(range(200)))
    expect(chat.notice).not_to_be_empty()
    expect(chat.added).to_have_count(1)


def test_a_site_without_a_seeing_model_refuses_files_in_words(window: Window, server: Server) -> None:
    chat = Pictures.open(window, server)
    chat.page.evaluate("document.querySelector('.attach').remove()")
    assert chat.fire("dragover")
    assert chat.fire("drop")
    expect(chat.notice).to_have_text("This site doesn’t take files.")


def test_at_most_eight_are_taken(chat: Pictures) -> None:
    chat.input.set_input_files([{**DRAWING, "name": f"{n}.png"} for n in range(10)])  # type: ignore[list-item]
    expect(chat.added).to_have_count(8)
    expect(chat.notice).to_have_text("A message can have up to 8 files. Left out: 8.png, 9.png.")


def test_an_upload_shows_its_progress_and_can_be_cancelled(chat: Pictures) -> None:
    held: list[Route] = []
    chat.page.route(UPLOAD, lambda route: held.append(route))
    chat.input.set_input_files([PHOTO])  # type: ignore[list-item]
    expect(chat.tray.get_by_role("progressbar", name="Adding cat.jpg")).to_be_visible()
    chat.ask("Well?")
    expect(chat.notice).to_have_text("Wait until the files are saved.")
    expect(chat.box).to_have_value("Well?")
    chat.page.route(UPLOAD, lambda route: route.continue_())
    held[0].continue_()
    expect(chat.added).to_have_count(1)
    expect(chat.notice).to_be_empty()  # it does not hold any more
    chat.tray.get_by_role("button", name="Remove cat.jpg").click()
    expect(chat.tray).to_be_hidden()
    expect(chat.box).to_be_focused()
    chat.page.unroute(UPLOAD)
    chat.box.press("Enter")
    chat.ended()
    assert chat.text == "You said: Well?"


@pytest.mark.parametrize("restored", [False, True])
def test_nothing_is_sent_before_the_tray_has_the_files(chat: Pictures, restored: bool) -> None:
    if restored:
        chat.add(PHOTO)
    held: list[Route] = []
    chat.page.route("**/attachments/parts/**", lambda route: held.append(route))
    with chat.page.expect_request("**/attachments/parts/**"):
        if restored:
            chat.page.reload()
            chat.choose(SEEING)
        else:
            chat.input.set_input_files([PHOTO])  # type: ignore[list-item]
    chat.ask("What is this?")
    chat.page.wait_for_timeout(300)
    expect(chat.questions).to_have_count(0)
    expect(chat.box).to_have_value("What is this?")
    held[0].continue_()
    expect(chat.added).to_have_count(1)
    chat.box.press("Enter")
    chat.ended()
    assert "I see 1 picture" in chat.text


def test_without_the_tray_the_text_can_be_sent(chat: Pictures) -> None:
    chat.page.route("**/attachments/parts/**", lambda route: route.abort())
    chat.input.set_input_files([PHOTO])  # type: ignore[list-item]
    expect(chat.notice).to_have_text("Couldn’t load. Try again.")
    chat.asked("Well?")
    assert chat.text == "You said: Well?"


def test_a_failed_upload_is_explained(chat: Pictures) -> None:
    chat.page.route(UPLOAD, lambda route: route.abort())
    chat.input.set_input_files([PHOTO])  # type: ignore[list-item]
    expect(chat.notice).to_have_text("cat.jpg couldn’t be added. Check your connection and try again.")
    chat.ask("What is this?")
    expect(chat.notice).to_have_text("Some files aren’t added. Try them again, or remove them.")
    expect(chat.questions).to_have_count(0)
    chat.tray.get_by_role("button", name="Try again: cat.jpg").click()
    expect(chat.notice).to_contain_text("cat.jpg couldn’t be added.")
    chat.page.unroute(UPLOAD)
    chat.tray.get_by_role("button", name="Try again: cat.jpg").press("Enter")
    expect(chat.added).to_have_count(1)
    expect(chat.notice).to_be_empty()
    expect(chat.tray.get_by_role("button", name="Remove cat.jpg")).to_be_focused()


def test_a_failed_upload_is_repeated_once_the_network_is_back(chat: Pictures) -> None:
    chat.add(DRAWING)
    chat.page.context.set_offline(True)
    chat.input.set_input_files([PHOTO])  # type: ignore[list-item]
    expect(chat.tray.get_by_role("button", name="Try again: cat.jpg")).to_be_visible()
    chat.page.context.set_offline(False)
    expect(chat.added).to_have_count(2)


def test_a_photo_just_works(chat: Pictures) -> None:
    chat.choose(BLIND)
    chat.add(PHOTO)
    expect(chat.tray).to_contain_text("“Pictures” answers, because “Everyday” can’t see pictures.")
    chat.tray.get_by_role("button", name="Remove cat.jpg").click()
    expect(chat.tray).to_be_hidden()
    chat.add(PHOTO)
    chat.asked("Well?")
    assert "I see 1 picture" in chat.text
    expect(chat.reply.locator("[data-part=model]")).to_have_text(SEEING)
    expect(chat.page.locator("#pick .label")).to_have_text("Pictures")  # this chat stays with it
    chat.page.goto("/")
    expect(chat.page.locator("#pick .label")).to_have_text("Everyday")  # and no other one


def test_another_model_that_sees_can_be_chosen(chat: Pictures) -> None:
    chat.choose(BLIND)
    chat.add(PHOTO)
    chat.tray.get_by_role("button", name="Change").click()
    picker = chat.page.locator("#models")
    expect(picker.get_by_role("radio", name=SEEING)).to_be_checked()
    folded = picker.locator("[data-part=blind]")
    expect(folded.locator(".model-row").filter(has_text=BLIND)).to_be_hidden()
    folded.locator("summary").click()
    expect(folded.get_by_role("radio", name=BLIND)).to_be_disabled()
    picker.get_by_role("radio", name=OTHER_EYES).click()
    expect(chat.tray.get_by_text("can’t see pictures.")).to_be_hidden()
    expect(chat.box).to_be_focused()  # the button that opened the list is hidden
    chat.box.fill("Well?")
    chat.box.press("Enter")
    chat.ended()
    expect(chat.reply.locator("[data-part=model]")).to_have_text(OTHER_EYES)


def test_an_error_goes_when_its_cause_goes(chat: Pictures) -> None:
    refusal = {"error": {"code": "model_cannot_see", "message": "It can’t see."}}
    chat.page.route("**/c/?html=1", lambda route: route.fulfill(status=400, json=refusal))
    for way in ("model", "picture"):
        chat.add(PHOTO)
        chat.ask("Well?")
        expect(chat.notice).to_have_text("It can’t see.")
        if way == "model":
            chat.choose(BLIND)
            expect(chat.notice).to_be_empty()
        chat.tray.get_by_role("button", name="Remove cat.jpg").click()
        expect(chat.notice).to_be_empty()


def test_a_model_that_cannot_see_the_pictures_above_is_named(chat: Pictures) -> None:
    chat.add(PHOTO)
    chat.asked("Well?")
    chat.choose(BLIND)
    expect(chat.notice).to_have_text(
        "“Everyday” can’t see the pictures above. It gets their descriptions or names."
    )
    chat.choose(SEEING)
    expect(chat.notice).to_be_empty()
    chat.choose(BLIND)
    expect(chat.notice).not_to_be_empty()
    chat.asked("And now?")
    expect(chat.notice).to_be_empty()


def test_an_edit_keeps_adds_and_removes(chat: Pictures) -> None:
    chat.add(PHOTO)
    chat.asked("One")
    chat.questions.get_by_role("button", name="Edit", exact=True).click()
    edit = chat.page.locator(".edit")
    expect(edit.locator(".tray img[src]")).to_have_count(1)
    edit.locator("input[type=file]").set_input_files([DRAWING])  # type: ignore[list-item]
    expect(edit.locator(".tray img[src]")).to_have_count(2)
    chat.page.wait_for_timeout(300)
    chat.page.reload()
    expect(edit.locator(".tray img[src]")).to_have_count(2)
    edit.get_by_role("button", name="Remove cat.jpg").click()
    edit.get_by_role("button", name="Save and send").click()
    expect(edit).to_have_count(0)  # the former question goes when the server has accepted
    expect(chat.reply).to_contain_text("I see 1 picture")
    expect(chat.sent).to_have_count(1)
    expect(chat.sent).to_have_attribute("alt", "plan.png")
    chat.page.reload()
    expect(chat.sent).to_have_attribute("alt", "plan.png")


def test_a_cancelled_edit_does_not_wait_for_its_files(chat: Pictures) -> None:
    chat.asked("One")
    chat.questions.get_by_role("button", name="Edit", exact=True).click()
    edit = chat.page.locator(".edit")
    held: list[Route] = []
    chat.page.route(UPLOAD, lambda route: held.append(route))
    with chat.page.expect_request(UPLOAD):
        edit.locator("input[type=file]").set_input_files([DRAWING])  # type: ignore[list-item]
    edit.get_by_role("button", name="Save and send").click()
    expect(chat.notice).to_have_text("Wait until the files are saved.")
    edit.get_by_role("button", name="Cancel").click()
    expect(chat.notice).to_be_empty()
    held[0].continue_()
    expect(chat.page.locator("#status")).to_contain_text("plan.png added")


@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(window: Window, server: Server, width: int) -> None:
    chat = Pictures.open(window, server, width=width, **WINDOW)
    chat.choose(BLIND)
    chat.add(PHOTO, DRAWING)
    assert findings(chat.page) == []
    chat.tray.get_by_role("button", name="Add a description: cat.jpg").click()
    assert findings(chat.page) == []
    chat.page.keyboard.press("Escape")
    chat.tray.get_by_role("button", name="Change").click()
    chat.page.get_by_role("radio", name=SEEING).wait_for()
    assert findings(chat.page) == []
    chat.page.locator("#models").get_by_role("radio", name=SEEING).click()
    chat.asked("Well?")
    assert findings(chat.page) == []
    chat.page.get_by_role("link", name="cat.jpg").click()
    assert findings(chat.page) == []


# Not alice: a sign-in renews the password's hash, which ends the person's other sessions.
@pytest.mark.parametrize(("name", "loaded"), [("bob", True), ("carol", False)])
def test_after_a_sign_in_again_the_picture_is_kept(
    window: Window, server: Server, name: str, loaded: bool
) -> None:
    page = window(server, name, at="/")
    chat = Pictures(page)
    if loaded:
        chat.add(DRAWING)
    chat.page.context.clear_cookies(name="sessionid")
    chat.input.set_input_files([PHOTO])  # type: ignore[list-item]
    chat.page.get_by_label("Password", exact=True).fill(PASSWORD)
    chat.page.keyboard.press("Enter")
    expect(chat.added).to_have_count(1 + loaded)
    expect(chat.notice).to_be_empty()


def test_a_picture_is_back_after_leaving_a_lost_session(window: Window, server: Server) -> None:
    chat = Pictures.open(window, server, "erin")
    chat.add(DRAWING)
    session = [each for each in chat.page.context.cookies() if each["name"] == "sessionid"]
    chat.page.context.clear_cookies(name="sessionid")
    chat.input.set_input_files([PHOTO])  # type: ignore[list-item]
    chat.page.get_by_role("button", name="Leave this page").click()
    expect(chat.page).to_have_url(re.compile("/accounts/login/"))
    chat.page.context.add_cookies(session)  # type: ignore[arg-type]
    chat.page.goto(server.url)
    expect(chat.added).to_have_count(1)
    expect(chat.notice).to_contain_text("before these files were added: cat.jpg.")


EDGES = """() => {
  const edges = (selector) => document.querySelector(selector).getBoundingClientRect();
  const image = document.querySelector('.pictures img');
  return [edges('.pictures').right - edges('.pictures img').right, getComputedStyle(image).borderRadius];
}"""


@pytest.mark.parametrize("width", [1280, 390])
def test_a_picture_alone_ends_where_the_text_does(window: Window, server: Server, width: int) -> None:
    chat = Pictures.seeing(window, server, width=width)
    chat.add(PHOTO)  # its width and its height are both beyond what is shown in a thread
    chat.asked("Well?")
    gap, corners = chat.page.evaluate(EDGES)
    assert abs(gap) < 1
    assert corners != "0px"
