"""An invitation up to the first reply, and a new password: by keyboard, wide, narrow, without scripts."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.accessibility import problems
from tests.e2e.chat_page import ChatPage, Window
from tests.support.people import PASSWORD
from tests.support.server import Server

NEW = "a lighthouse by the sea"
WIDTHS = (1280, 390)


def invitation(window: Window, server: Server, note: str) -> str:
    """The path of a link that the administrator makes."""
    page = window(server, "root", at="/admin/chat/invite/add/")
    page.get_by_label("Name").fill(note)
    page.keyboard.press("Enter")
    return shown_link(page)


def shown_link(page: Page) -> str:
    field = page.get_by_label("Link")
    expect(field).to_be_focused()
    expect(field).to_have_js_property("readOnly", True)
    link = field.input_value()
    page.keyboard.press("Control+A")
    assert page.evaluate("document.activeElement.selectionEnd") == len(link)
    return "/" + link.split("/", 3)[3]


def type_and_go_on(page: Page, *texts: str) -> None:
    """Fill one field after the other from the keyboard, and send the form."""
    page.wait_for_function("document.activeElement?.matches('input')")
    for number, text in enumerate(texts):
        if number:
            page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.show-password')"):
            page.keyboard.press("Tab")
        page.keyboard.insert_text(text)  # as a paste
    page.keyboard.press("Enter")


def is_there(chat: ChatPage) -> None:
    """Wait for the focus, which the script sets once."""
    expect(chat.box).to_be_focused()


def is_well_made(page: Page) -> None:
    """Check the page at every width; the first one is set again afterwards."""
    before = page.viewport_size
    assert before
    for width in sorted(WIDTHS, key=before["width"].__eq__):  # its own comes last
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function("width => innerWidth === width", arg=width)
        assert problems(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_invitation_becomes_an_account_that_chats(window: Window, server: Server) -> None:
    link = invitation(window, server, "Alice")  # whose name is taken, so nothing is filled in
    page = window(server, at=link)
    is_well_made(page)
    expect(page.get_by_label("Name")).to_be_focused()
    type_and_go_on(page, "alice", "", "short")

    name = page.get_by_label("Name")
    expect(name).to_be_focused()
    expect(name).to_have_accessible_description(re.compile("^Another account already uses this name or one"))
    expect(page.get_by_label("Password", exact=True)).to_have_attribute("aria-invalid", "true")
    is_well_made(page)

    name.fill("ada")
    page.keyboard.press("Tab")
    type_and_go_on(page, "", NEW)
    chat = ChatPage(page)
    is_there(chat)
    assert chat.asked("Hello") == "You said: Hello"

    late = window(server, at=link)
    expect(late.get_by_role("heading", name="This link doesn’t work")).to_be_visible()
    is_well_made(late)
    page.goto(invitation(window, server, "another one"))
    expect(page.get_by_role("heading", name="You already have an account")).to_be_visible()
    is_well_made(page)


def test_a_link_that_cannot_be_copied_is_selected(window: Window, server: Server) -> None:
    page = window(server, "root", at="/admin/chat/invite/add/")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Copy")).to_be_visible()
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.evaluate("document.execCommand = () => false")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Not copied")).to_be_visible()
    assert page.evaluate("getSelection().toString()") == page.get_by_label("Link").input_value()


def test_somebody_changes_the_password_by_keyboard(window: Window, server: Server) -> None:
    page = window(server, width=390)  # where the way to it is in a drawer
    page.goto("/")
    type_and_go_on(page, "bob", PASSWORD)
    is_there(ChatPage(page))
    page.locator(".sidebar-toggle").focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Settings", exact=True).focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Settings")
    dialog.get_by_role("link", name="Account and password").focus()
    page.keyboard.press("Enter")

    current = dialog.get_by_label("Current password")
    current.focus()
    is_well_made(page)
    type_and_go_on(page, "wrong", NEW)
    expect(current).to_have_accessible_description("That isn’t your current password.")
    expect(current).to_be_focused()
    is_well_made(page)
    type_and_go_on(page, PASSWORD, NEW)
    expect(dialog.get_by_role("status")).to_contain_text("You’re still signed in here.")
    is_well_made(page)

    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    chat = ChatPage(page)
    assert chat.asked("Hello") == "You said: Hello"
    page.goto("/accounts/password/")
    page.get_by_label("Current password").focus()
    type_and_go_on(page, NEW, PASSWORD)
    expect(page.get_by_role("status")).to_be_visible()


def test_an_administrator_confirms_by_keyboard(window: Window, server: Server) -> None:
    """A new password for somebody, and a right for a key, both after a wrong confirmation."""
    root, erin = window(server, "root", width=390), server.person("erin")
    erin.post("/settings/keys/", {"name": "a program", "run": True, "password": PASSWORD})
    root.goto("/admin/chat/user/")
    root.get_by_role("link", name="alice", exact=True).click()
    root.get_by_role("link", name="Set a password").click()
    for own in ("wrong", PASSWORD):
        type_and_go_on(root, PASSWORD, PASSWORD, own)
        expect(root.get_by_text("The password was changed.")).to_be_visible(visible=own == PASSWORD)

    root.goto("/admin/chat/apikey/")
    root.get_by_role("checkbox").last.check()
    root.get_by_label("Action:").select_option("Allow the selected keys to set AI Gateway options")
    root.get_by_role("button", name="Go", exact=True).press("Enter")
    for own in ("wrong", PASSWORD):
        expect(root.get_by_label("Your own password")).to_be_focused()
        type_and_go_on(root, own)
    expect(root.get_by_text("1 key was changed.")).to_be_visible()


def test_a_typed_password_is_shown_and_hidden_by_keyboard(window: Window, server: Server) -> None:
    page = window(server, "carol", at="/settings/account/")
    field = page.get_by_label("New password")
    field.fill(NEW)
    page.keyboard.press("Tab")
    eye = page.get_by_role("button", name="Show password").last
    expect(eye).to_be_focused()
    for shown, kind in ((True, "text"), (False, "password")):
        page.keyboard.press("Space")
        expect(field).to_have_attribute("type", kind)
        expect(eye).to_have_attribute("aria-pressed", str(shown).lower())
        assert problems(page) == []
    expect(page.get_by_label("Current password")).to_have_attribute("type", "password")
