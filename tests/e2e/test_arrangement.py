"""Conversations are pinned, archived and tagged from their menu, and several are chosen on their page."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import STATE, Window
from tests.e2e.input_methods import KEYBOARD, MOUSE
from tests.e2e.sidebar_page import Shell, conversations, drop
from tests.support.server import Server


@pytest.fixture
def four(server: Server) -> list[str]:
    drop(server.database, "alice")
    return conversations(server.database, "alice", ["Sailing", "Baking", "Packing", "Reading"])


def test_a_conversation_is_pinned_and_unpinned_by_keyboard(window: Window, server: Server, four) -> None:
    shell = Shell.open(window, server, KEYBOARD)
    shell.do("Pin", "Packing")
    expect(shell.list.locator("[data-group=pinned] li")).to_have_text(["Packing"])
    expect(shell.item("Packing").get_by_role("link")).to_be_focused()
    assert shell.titles() == ["Packing", "Sailing", "Baking", "Reading"]
    shell.do("Unpin", "Packing")
    expect(shell.list.locator("[data-group=pinned] li")).to_have_count(0)
    assert shell.titles() == ["Sailing", "Baking", "Packing", "Reading"]


def test_an_open_conversation_is_archived_tagged_and_taken_back(window: Window, server: Server, four) -> None:
    shell = Shell.open(window, server, MOUSE, f"/c/{four[1]}/")
    menu = shell.page.locator("#menu")
    more = shell.page.locator("#menu-button")
    more.click()
    menu.get_by_role("button", name="Tags").click()
    dialog = shell.page.get_by_role("dialog", name="Tags")
    expect(dialog.get_by_role("combobox", name="New tag")).to_be_focused()
    expect(dialog.get_by_role("paragraph").first).to_have_text("Baking")
    tags = shell.page.locator("#sidebar .sidebar-tags")
    expect(tags).to_be_hidden()
    shell.page.keyboard.type("bread")
    shell.page.keyboard.press("Enter")
    expect(dialog.get_by_role("listitem")).to_contain_text("bread")
    tags.locator("summary").evaluate("summary => summary.click()")  # it is behind the dialog
    expect(tags.locator("a")).to_have_text(["bread"])
    shell.page.keyboard.type("bakery")
    shell.page.keyboard.press("Enter")
    expect(tags.locator("a")).to_have_text(["bakery", "bread"])
    expect(tags).to_have_attribute("open", "")
    dialog.get_by_role("button", name="Close").click()
    more.click()
    menu.get_by_role("button", name="Archive").click()
    expect(shell.toast).to_contain_text("1 chat archived.")
    assert shell.titles() == ["Sailing", "Packing", "Reading"]
    more.click()
    expect(menu.get_by_role("button", name="Move back to the list")).to_be_visible()
    more.click()
    shell.toast.get_by_role("button", name="Undo").click()
    expect(shell.item("Baking").get_by_role("link")).to_be_focused()


def test_the_menu_works_without_the_module_of_the_sidebar(window: Window, server: Server, four) -> None:
    page = window(server, "alice")
    page.route("**/sidebar*.js", lambda route: route.abort())
    page.goto(f"/c/{four[1]}/")
    page.locator("#menu-button").click()
    with page.expect_navigation():
        page.locator("#menu").get_by_role("button", name="Pin").click()
    page.locator("#menu-button").click()
    expect(page.locator("#menu").get_by_role("button", name="Unpin")).to_be_visible()


def test_shift_chooses_a_range_on_the_page_of_all(window: Window, server: Server, four) -> None:
    page = window(server, "alice", at="/conversations/")
    archive = page.get_by_role("button", name="Archive", exact=True)
    expect(archive).to_be_disabled()
    page.get_by_role("checkbox", name="Select “Sailing”").click()
    page.get_by_role("checkbox", name="Select “Packing”").click(modifiers=["Shift"])
    expect(page.get_by_role("checkbox", name="3 selected")).to_be_checked(indeterminate=True)
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("checkbox", name="Select “Reading”")).to_be_focused()
    page.keyboard.press("Enter")  # chooses no action
    archive.click()
    expect(page.get_by_role("status")).to_contain_text("3 chats archived.")
    expect(page.locator(".select-title")).to_have_text(["Reading"])
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_have_text("Undone for 3 chats.")
    expect(page.locator(".select-title")).to_have_count(4)


def test_a_range_of_arrow_keys_shrinks_again(window: Window, server: Server, four) -> None:
    page = window(server, "alice", at="/conversations/")

    def chosen() -> list[str]:
        return page.locator("li:has(:checked) .select-title").all_inner_texts()

    page.get_by_role("checkbox", name="Select “Reading”").check()
    page.get_by_role("checkbox", name="Select “Baking”").check()
    for keys, left in (
        ("ArrowDown", ["Baking", "Packing", "Reading"]),
        ("ArrowDown", ["Baking", "Packing", "Reading"]),
        ("ArrowUp", ["Baking", "Packing", "Reading"]),  # this one was chosen before
        ("ArrowUp", ["Baking", "Reading"]),
        ("ArrowUp", ["Sailing", "Baking", "Reading"]),
        ("ArrowDown", ["Baking", "Reading"]),
    ):
        page.keyboard.press(f"Shift+{keys}")
        assert chosen() == left
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowDown")  # another range begins
    page.keyboard.press("Shift+ArrowUp")
    assert chosen() == ["Baking", "Packing", "Reading"]
    expect(page.get_by_role("checkbox", name="3 selected")).to_be_checked(indeterminate=True)


def test_a_tag_is_named_before_it_is_added(window: Window, server: Server, four) -> None:
    page = window(server, "alice", at="/conversations/")
    add = page.get_by_role("button", name="Add tag")
    box = page.get_by_role("checkbox", name="Select “Baking”")
    box.check()
    expect(add).to_be_disabled()
    expect(page.get_by_role("button", name="Remove tag")).to_be_disabled()
    expect(page.get_by_role("button", name="Archive", exact=True)).to_be_enabled()
    field = page.get_by_role("combobox", name="Tag", exact=True)
    field.press("Enter")
    expect(box).to_be_checked()
    page.keyboard.type("bread")
    add.click()
    expect(page.get_by_role("status")).to_contain_text("1 chat tagged.")


def test_back_does_not_offer_a_used_undo(window: Window, server: Server, four) -> None:
    page = window(server, "alice", at="/conversations/")
    page.get_by_role("checkbox", name="Select “Baking”").check()
    page.get_by_role("button", name="Archive", exact=True).click()
    undo = page.get_by_role("button", name="Undo")
    undo.click()
    expect(page.get_by_role("status")).to_have_text("Undone for 1 chat.")
    page.go_back()
    expect(page).to_have_url(re.compile("done=archive"))
    expect(page.locator(".select-title")).to_have_count(4)
    assert undo.count() == 0  # at once: it would go after some seconds
    page.get_by_role("checkbox", name="Select “Baking”").check()
    page.get_by_role("button", name="Archive", exact=True).click()
    expect(undo).to_be_visible()
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    assert undo.count() == 0


def test_tabs_of_a_browser_show_the_same_list(window: Window, server: Server, four) -> None:
    shell = Shell.open(window, server, MOUSE)
    other = Shell(shell.page.context.new_page(), MOUSE)
    with other.page.expect_request("**/js/sync*"):
        other.page.goto(f"/c/{four[3]}/")
    with other.page.expect_response(STATE):
        pass
    shown = other.list.locator("li:visible > a")
    shell.do("Pin", "Packing")
    expect(shown).to_have_text(["Packing", "Sailing", "Baking", "Reading"])
    shell.do("Archive", "Sailing")
    expect(shown).to_have_text(["Packing", "Baking", "Reading"])
    shell.toast.get_by_role("button", name="Undo").click()
    expect(shown).to_have_text(["Packing", "Sailing", "Baking", "Reading"])
    shell.do("Delete", "Baking")
    expect(shown).to_have_text(["Packing", "Sailing", "Reading"])
    shell.toast.get_by_role("button", name="Undo").click()
    expect(shown).to_have_text(["Packing", "Sailing", "Baking", "Reading"])
    shell.do("Rename", "Sailing")
    shell.title_box.fill("Rowing")
    shell.title_box.press("Enter")
    expect(shown).to_have_text(["Packing", "Rowing", "Baking", "Reading"])
    shell.page.goto("/conversations/")
    shell.page.get_by_role("checkbox", name="Select “Baking”").check()
    shell.page.get_by_role("button", name="Delete", exact=True).click()
    expect(shown).to_have_text(["Packing", "Rowing", "Reading"])
    assert other.page.evaluate("document.hidden") is False  # it was the notification that made it look


def test_the_actions_for_several_are_at_the_thumb_on_a_phone(window: Window, server: Server, four) -> None:
    page = window(server, "alice", at="/conversations/", width=320, has_touch=True)
    first = page.get_by_role("button", name="Pin", exact=True)
    expect(first).to_be_hidden()  # until a chat is chosen
    page.get_by_role("checkbox", name="Select “Packing”").tap()
    expect(first).to_be_in_viewport(ratio=1)
    assert first.bounding_box()["height"] >= 44
    page.get_by_role("combobox", name="Tag", exact=True).fill("red")
    first.focus()
    for _ in range(7):  # past Unpin, Archive, Delete, Export and the tag
        page.keyboard.press("Tab")
    last = page.get_by_role("button", name="Remove tag")
    expect(last).to_be_focused()
    expect(last).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 320, "height": 480})  # a list that scrolls
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    row = page.locator(".select-list li").last.bounding_box()
    bar = page.locator(".select-actions").bounding_box()
    assert row["y"] + row["height"] <= bar["y"]  # nothing of the list is left below it


@pytest.mark.parametrize("scripts", [True, False])
def test_deleting_for_good_asks_first(window: Window, server: Server, scripts: bool) -> None:
    gone, kept = f"Gone {scripts}", f"Kept {scripts}"
    for key in conversations(server.database, "alice", [gone, kept]):
        server.person("alice").post(f"/c/{key}/delete/")
    page = window(server, "alice", at="/conversations/trash/", width=390, java_script_enabled=scripts)
    page.get_by_role("checkbox", name=gone).check()
    page.get_by_role("button", name="Delete now").click()
    question = page.get_by_role("dialog", name="Delete the selected chats for good?")
    expect(question).to_be_visible()
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    question.get_by_role("button", name="Cancel").click()
    expect(question).to_be_hidden()
    expect(page.get_by_role("checkbox", name=gone)).to_be_checked()
    page.get_by_role("button", name="Delete now").click()
    question.get_by_role("button", name="Delete now").click()
    expect(page.get_by_role("status").filter(has_text="1 chat deleted.")).to_be_visible()
    expect(page.get_by_role("checkbox", name=gone)).to_have_count(0)
    expect(page.get_by_role("checkbox", name=kept)).to_have_count(1)
