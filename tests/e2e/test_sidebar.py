"""The list of conversations: by date, renamed in place, deleted and taken back; the menu at its foot."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.input_methods import FINGER, IN_DRAWER_TOO, KEYBOARD, MOUSE, MOUSE_ELSEWHERE, Way, reach
from tests.e2e.sidebar_page import Shell, conversations, drop
from tests.support.server import Server

TITLES = ["Sailing", "Baking", "Packing"]


@pytest.fixture
def three(server: Server) -> list[str]:
    """Alice's conversations: of today, of yesterday or the day before, and an older one."""
    drop(server.database, "alice")
    return conversations(server.database, "alice", TITLES)


@IN_DRAWER_TOO
def test_a_conversation_is_renamed_in_its_place(window: Window, server: Server, three, way: Way) -> None:
    shell = Shell.open(window, server, way)
    shell.do("Rename", "Baking")
    expect(shell.title_box).to_be_focused()
    shell.page.keyboard.type("Bread  and <b>cake</b>")
    shell.page.keyboard.press("Enter")
    renamed = shell.item("Bread and <b>cake</b>").get_by_role("link")
    expect(renamed).to_be_focused()
    expect(shell.title_box).to_have_count(0)
    assert shell.titles() == ["Sailing", "Bread and <b>cake</b>", "Packing"]
    shell.page.reload()
    shell.show_list()
    assert shell.titles() == ["Sailing", "Bread and <b>cake</b>", "Packing"]


@pytest.mark.parametrize("ending", ["Escape", "blank"])
def test_a_rename_can_be_given_up(window: Window, server: Server, three, ending: str) -> None:
    shell = Shell.open(window, server, KEYBOARD)
    shell.reach(shell.item("Baking").get_by_role("link"))
    shell.page.keyboard.press("F2")
    expect(shell.title_box).to_have_value("Baking")
    shell.title_box.fill("Other" if ending == "Escape" else "   ")
    shell.page.keyboard.press("Escape" if ending == "Escape" else "Enter")
    expect(shell.item("Baking").get_by_role("link")).to_be_focused()
    shell.page.reload()
    assert shell.titles() == TITLES


def test_a_key_is_heard_before_what_it_does_is_loaded(window: Window, server: Server, three) -> None:
    page, held = window(server, "alice", **KEYBOARD.window), list[Route]()
    page.route("**/js/sidebar.*", lambda route: held.append(route))
    with page.expect_request("**/js/sidebar.*"):  # at once, in a tab that was hidden while it opened
        page.goto("/")
        shell = Shell(page, KEYBOARD)
        reach(shell.item("Baking").get_by_role("link"))  # by Tab: the arrows are not loaded either
    page.keyboard.press("F2")
    held.pop().continue_()
    expect(shell.title_box).to_have_value("Baking")


def test_an_open_menu_keeps_its_buttons_in_place(window: Window, server: Server, three) -> None:
    page, held = window(server, "alice"), list[Route]()
    page.route("**/js/sidebar.*", lambda route: held.append(route))
    page.goto(f"/c/{three[1]}/")
    menu = page.get_by_role("button", name="More", exact=True)
    menu.click()
    delete = page.get_by_text("Delete this chat")
    page.wait_for_function("() => document.querySelector('#menu').matches(':popover-open')")
    place = delete.bounding_box()
    with page.expect_response("**/js/sidebar.*"):
        held.pop().continue_()
    expect(page.locator("#menu").get_by_role("button", name="Pin")).to_be_visible()
    assert delete.bounding_box() == place


def test_blur_saves_a_title_and_an_input_method_does_not(window: Window, server: Server, three) -> None:
    shell = Shell.open(window, server, MOUSE)
    shell.do("Rename", "Packing")
    shell.title_box.fill("梱包")
    shell.title_box.dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True})
    expect(shell.title_box).to_be_visible()
    shell.chat.box.click()
    expect(shell.item("梱包")).to_be_visible()
    expect(shell.chat.box).to_be_focused()
    shell.page.reload()
    assert shell.titles() == ["Sailing", "Baking", "梱包"]


def test_a_title_that_cannot_be_saved_stays_in_its_box(window: Window, server: Server, three) -> None:
    shell = Shell.open(window, server, KEYBOARD)
    shell.page.route("**/rename/", lambda route: route.abort())
    shell.do("Rename", "Baking")
    shell.title_box.fill("Bread")
    shell.page.keyboard.press("Enter")
    shell.page.wait_for_function(
        "() => document.querySelector('.rename').validationMessage.includes('reach the server')"
    )
    expect(shell.title_box).to_have_value("Bread")
    shell.page.unroute_all()
    shell.page.keyboard.press("Enter")
    expect(shell.item("Bread").get_by_role("link")).to_be_focused()


@MOUSE_ELSEWHERE
def test_the_open_conversations_title_is_renamed_in_the_header(
    window: Window, server: Server, three, way: Way
) -> None:
    shell = Shell.open(window, server, way, f"/c/{three[0]}/")
    shell.press(shell.heading.get_by_role("button", name="Sailing"))
    shell.title_box.fill("Boats")
    shell.page.keyboard.press("Enter")
    expect(shell.heading.get_by_role("button", name="Boats")).to_be_focused()
    expect(shell.page).to_have_title("Boats")
    shell.show_list()
    assert shell.titles() == ["Boats", "Baking", "Packing"]


@IN_DRAWER_TOO
def test_a_deletion_is_taken_back(window: Window, server: Server, three, way: Way) -> None:
    shell = Shell.open(window, server, way)
    shell.do("Delete", "Baking")
    expect(shell.toast).to_contain_text("Baking")
    assert shell.titles() == ["Sailing", "Packing"]
    undo = shell.toast.get_by_role("button", name="Undo")
    if way.name == "keyboard":
        expect(undo).to_be_focused()
    shell.press(undo)
    expect(shell.item("Baking").get_by_role("link")).to_be_focused()
    expect(shell.toast).to_be_empty()
    shell.page.reload()
    shell.show_list()
    assert shell.titles() == TITLES


@MOUSE_ELSEWHERE
def test_deleting_the_open_conversation_can_be_undone(
    window: Window, server: Server, three, way: Way
) -> None:
    shell = Shell.open(window, server, way, f"/c/{three[1]}/")
    shell.press(shell.page.get_by_role("button", name="More", exact=True))
    shell.press(shell.page.get_by_text("Delete this chat"))
    expect(shell.heading).to_have_text("New chat")
    expect(shell.page).to_have_url(re.compile(r"/$"))
    assert "Baking" not in shell.list.inner_text()
    shell.press(shell.toast.get_by_role("button", name="Undo"))
    expect(shell.heading).to_have_text("Baking")


def test_an_undo_stays_while_it_has_pointer_or_focus(window: Window, server: Server, three) -> None:
    page = window(server, "alice")
    page.clock.install()
    page.goto("/")
    shell = Shell(page, KEYBOARD)
    shell.do("Delete", "Baking")
    undo = shell.toast.get_by_role("button", name="Undo")
    expect(undo).to_be_focused()
    page.clock.fast_forward(60_000)
    expect(undo).to_be_visible()
    page.keyboard.press("Escape")
    expect(shell.item("Packing").get_by_role("link")).to_be_focused()
    expect(shell.toast).to_be_empty()
    Shell(page, MOUSE).do("Delete", "Packing")
    page.mouse.move(800, 300)
    expect(undo).to_be_visible()
    page.clock.fast_forward(5_000)  # time goes on by itself as well
    expect(undo).to_be_visible()
    page.clock.fast_forward(8_000)
    expect(shell.toast).to_be_empty()


def test_a_deletion_that_fails_is_said_and_undone(window: Window, server: Server, three) -> None:
    shell = Shell.open(window, server, MOUSE)
    shell.page.route("**/delete/", lambda route: route.abort())
    shell.do("Delete", "Baking")
    expect(shell.toast).to_have_text("Can’t reach the server. Try again.")
    assert shell.titles() == TITLES


def test_many_conversations_come_as_the_list_is_scrolled(window: Window, server: Server) -> None:
    drop(server.database, "alice")
    titles = [f"Number {n}" for n in range(450)]
    conversations(server.database, "alice", titles, apart=timedelta(hours=9))
    shell = Shell.open(window, server, MOUSE)
    expect(shell.list.get_by_role("listitem")).to_have_count(200)
    for count in (400, 450):
        shell.list.hover()
        shell.list.evaluate("list => list.scrollTo(0, list.scrollHeight)")
        expect(shell.list.get_by_role("listitem")).to_have_count(count)
    assert shell.titles() == titles
    months = shell.list.get_by_role("heading").all_inner_texts()
    assert len(months) == len(set(months))
    expect(shell.list.get_by_role("link", name="Older chats")).to_have_count(0)


ROW = "row => row.getBoundingClientRect().height"


@MOUSE_ELSEWHERE
def test_the_account_menu_opens_moves_and_returns_the_focus(window: Window, server: Server, way: Way) -> None:
    shell = Shell.open(window, server, way)
    shell.show_list()
    button = shell.page.get_by_role("button", name="Account: alice")
    expect(button).to_have_attribute("aria-haspopup", "menu")
    shell.press(button)
    first = shell.page.get_by_role("menuitem", name="All chats")
    expect(first).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "true")
    shell.page.keyboard.press("ArrowUp")
    expect(shell.page.get_by_role("menuitem", name="Sign out")).to_be_focused()
    shell.page.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    shell.page.keyboard.press("Escape")
    expect(first).to_be_hidden()
    expect(button).to_be_focused()
    shell.press(button)
    expect(first).to_be_focused()
    shell.page.keyboard.press("Enter")
    expect(shell.page).to_have_url(f"{server.url}/conversations/")
    account = shell.page.locator(".account-button")
    assert account.get_attribute("aria-haspopup") is None, "it shows links here"


@pytest.mark.parametrize(("way", "least"), [(MOUSE, 36), (FINGER, 40)], ids=["mouse", "finger"])
def test_rows_are_low_for_a_mouse_and_high_for_a_finger(
    window: Window, server: Server, way: Way, least: int
) -> None:
    drop(server.database, "alice")
    conversations(server.database, "alice", ["Sailing"])
    shell = Shell.open(window, server, way)
    shell.show_list()
    assert shell.item("Sailing").evaluate(ROW) == least
    shell.do("Rename", "Sailing")
    assert shell.list.get_by_role("listitem").filter(has=shell.title_box).evaluate(ROW) == least


def test_an_empty_list_says_what_it_is_for(window: Window, server: Server) -> None:
    drop(server.database, "alice")
    shell = Shell.open(window, server, MOUSE)
    line = shell.page.get_by_text("Your chats will appear here.")
    expect(line).to_be_visible()
    shell.chat.asked("Hello")
    expect(line).to_be_hidden()
    shell.do("Delete", "Hello")
    expect(line).to_be_visible()


def test_a_phone_starts_a_new_chat_from_the_header(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, **FINGER.window)
    new = chat.page.get_by_role("link", name="New chat")
    expect(new).to_be_hidden()
    chat.asked("Hello")
    new.tap()
    expect(chat.page.get_by_role("heading", name="New chat")).to_be_visible()
    expect(chat.questions).to_have_count(0)
