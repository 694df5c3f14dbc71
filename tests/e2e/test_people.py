"""From an invitation to the first answer, and a new password: by keyboard, wide, narrow, without scripts."""

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
    page = window(server, "root")
    page.goto("/admin/")
    page.get_by_role("link", name="Add").and_(page.locator('[href="/admin/chat/invite/add/"]')).click()
    page.get_by_label("For whom").fill(note)
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
        page.keyboard.insert_text(text)  # as a paste
    page.keyboard.press("Enter")


def is_there(chat: ChatPage) -> None:
    """With its script, which sends, and which takes the focus once."""
    expect(chat.box).to_be_focused()


def is_well_made(page: Page) -> None:
    """At every width; it stands at the first one again afterwards."""
    before = page.viewport_size
    assert before
    for width in sorted(WIDTHS, key=before["width"].__eq__):  # its own comes last
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function("width => innerWidth === width", arg=width)
        assert problems(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_invitation_becomes_an_account_that_chats(window: Window, server: Server) -> None:
    link = invitation(window, server, "Ada")
    page = window(server)
    page.goto(link)
    is_well_made(page)
    expect(page.get_by_label("Name")).to_be_focused()
    type_and_go_on(page, "alice", "", "short", "short")

    name = page.get_by_label("Name")
    expect(name).to_be_focused()
    expect(name).to_have_accessible_description(re.compile("^Another account has this name, or one"))
    expect(page.get_by_label("Password", exact=True)).to_have_attribute("aria-invalid", "true")
    is_well_made(page)

    name.fill("ada")
    page.keyboard.press("Tab")
    type_and_go_on(page, "", NEW, NEW)
    chat = ChatPage(page)
    is_there(chat)
    chat.ask("Hello")
    assert chat.ended() == "You said: Hello"

    late = window(server)
    late.goto(link)
    expect(late.get_by_role("heading", name="This link does not work")).to_be_visible()
    is_well_made(late)
    page.goto(invitation(window, server, "another one"))
    expect(page.get_by_role("heading", name="You have an account already")).to_be_visible()
    is_well_made(page)


def test_somebody_changes_the_password_by_keyboard(window: Window, server: Server) -> None:
    page = window(server, width=390)  # where the way to it is in a drawer
    page.goto("/")
    type_and_go_on(page, "bob", PASSWORD)
    is_there(ChatPage(page))
    page.locator(".drawer").focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Password").focus()
    page.keyboard.press("Enter")

    expect(page.get_by_label("Current password")).to_be_focused()
    is_well_made(page)
    type_and_go_on(page, "wrong", NEW, NEW)
    current = page.get_by_label("Current password")
    expect(current).to_be_focused()
    expect(current).to_have_accessible_description("This is not your current password.")
    is_well_made(page)
    type_and_go_on(page, PASSWORD, NEW, NEW)
    expect(page.get_by_role("status")).to_contain_text("You stay signed in here.")
    is_well_made(page)

    page.get_by_role("link", name="Back to the chat").focus()
    page.keyboard.press("Enter")
    expect(ChatPage(page).box).to_be_visible()
    page.goto("/accounts/password/")
    type_and_go_on(page, NEW, PASSWORD, PASSWORD)
    expect(page.get_by_role("status")).to_be_visible()


def test_a_lost_password_is_replaced_with_a_link(window: Window, server: Server) -> None:
    root = window(server, "root", width=390)
    root.goto("/admin/chat/user/")
    root.get_by_role("link", name="alice", exact=True).click()
    root.get_by_role("link", name="make a link to choose one").click()
    root.get_by_role("button", name="End the password and make a link").focus()
    root.keyboard.press("Enter")
    link = shown_link(root)

    page = window(server, width=390)
    page.goto(link)
    assert "/set-password/" in page.url
    is_well_made(page)
    expect(page.get_by_label("New password", exact=True)).to_be_focused()
    type_and_go_on(page, PASSWORD, PASSWORD)
    expect(ChatPage(page).box).to_be_visible()


def test_it_all_works_without_scripts(window: Window, server: Server) -> None:
    link = invitation(window, server, "without scripts")
    page = window(server, java_script_enabled=False)
    page.goto(link)
    for label, text in (("Name", "noscript"), ("Password", NEW), ("The password again", NEW)):
        page.get_by_label(label, exact=True).fill(text)
    page.get_by_role("button", name="Make the account").click()
    page.get_by_role("link", name="Password").click()
    for label, text in (
        ("Current password", NEW),
        ("New password", PASSWORD),
        ("The new password again", PASSWORD),
    ):
        page.get_by_label(label, exact=True).fill(text)
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_role("heading", name="Your password was changed")).to_be_visible()


def test_the_admins_link_leads_to_the_same_page(window: Window, server: Server) -> None:
    page = window(server, "root")
    page.goto("/admin/")
    page.get_by_role("link", name="Change password").click()
    expect(page.get_by_role("heading", name="Change your password")).to_be_visible()


def test_browsers_are_told_which_field_holds_what(window: Window, server: Server) -> None:
    page = window(server, "carol")
    page.goto("/accounts/password/")
    fields = page.locator("input[autocomplete]").evaluate_all(
        "all => all.map((el) => [el.name, el.autocomplete])"
    )
    assert fields == [
        ["username", "username"],
        ["current", "current-password"],
        ["new_password1", "new-password"],
        ["new_password2", "new-password"],
    ]
    page = window(server)
    page.goto(invitation(window, server, "fields"))
    fields = page.locator("input[autocomplete]").evaluate_all("all => all.map((el) => el.autocomplete)")
    assert fields == ["username", "email", "new-password", "new-password"]
