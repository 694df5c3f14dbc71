"""Choosing a model."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import Window
from tests.e2e.input_methods import ALL, FINGER, KEYBOARD, MOUSE, Way, by
from tests.e2e.sidebar_page import Shell
from tests.support.server import Server

LAST = "GPT OSS 20B"  # of the conversation that is there
OTHER = "Llama 3.2 3B"

pytestmark = pytest.mark.usefixtures("one")


def opened(shell: Shell) -> Shell:
    shell.press(shell.page.get_by_role("button", name="Model:"))
    expect(shell.picker.get_by_role("radio").first).to_be_visible()
    return shell


def chosen(shell: Shell, name: str) -> None:
    expect(shell.page.get_by_role("button", name="Model:")).to_have_text(re.compile(name))


@ALL
def test_a_model_is_found_chosen_and_kept(window: Window, server: Server, one, fake, way: Way) -> None:
    shell = opened(Shell.open(window, server, way, f"/c/{one}/"))
    expect(shell.picker.get_by_role("radio", name=LAST)).to_be_checked()
    if way.name == "keyboard":
        expect(shell.picker.get_by_role("searchbox")).to_be_focused()
        shell.page.keyboard.type("llama 3b")
        expect(shell.picker.get_by_role("radio")).to_have_count(1)
        shell.page.keyboard.press("Enter")
    else:
        shell.press(shell.picker.get_by_text(OTHER))
    expect(shell.picker).to_be_hidden()
    chosen(shell, OTHER)
    if way.name == "keyboard":
        expect(shell.page.get_by_role("button", name="Model:")).to_be_focused()
    shell.chat.ask("Hello")
    shell.chat.ended()
    assert fake.calls[-1]["path"].endswith("llama-3.2-3b-instruct")
    shell.page.reload()
    chosen(shell, OTHER)


def test_a_choice_is_kept_without_a_question(window: Window, server: Server, one) -> None:
    shell = opened(Shell.open(window, server, MOUSE, f"/c/{one}/"))
    with shell.page.expect_response("**/settings/"):
        shell.picker.get_by_text(OTHER).click()
    shell.page.reload()
    chosen(shell, OTHER)


@by(KEYBOARD, FINGER)
def test_a_new_chat_proposes_the_last_model_and_takes_another(
    window: Window, server: Server, fake, way: Way
) -> None:
    shell = Shell.open(window, server, way)
    chosen(shell, LAST)
    opened(shell)
    row = shell.picker.get_by_role("radio", name=OTHER)
    if way.name == "keyboard":
        shell.page.keyboard.press("ArrowDown")
        expect(shell.picker.get_by_role("radio", name=LAST)).to_be_focused()
        while not row.is_checked():
            shell.page.keyboard.press("ArrowDown")
        chosen(shell, LAST)  # walking is not choosing
        shell.page.keyboard.press("Enter")
    else:
        shell.press(shell.picker.get_by_text(OTHER))
    expect(shell.page.locator("#answers")).to_have_text(OTHER)
    shell.chat.ask("Hello")
    shell.chat.ended()
    expect(shell.chat.reply.locator("[data-part=model]")).to_have_text(OTHER)
    assert fake.calls[-1]["path"].endswith("llama-3.2-3b-instruct")


def test_escape_chooses_nothing_and_so_does_a_click_beside(window: Window, server: Server) -> None:
    shell = opened(Shell.open(window, server, KEYBOARD))
    for _ in range(3):
        shell.page.keyboard.press("ArrowDown")
    shell.page.keyboard.press("Escape")
    expect(shell.picker).to_be_hidden()
    expect(shell.page.get_by_role("button", name="Model:")).to_be_focused()
    chosen(shell, LAST)
    opened(shell)
    expect(shell.picker.get_by_role("radio", name=LAST)).to_be_checked()
    shell.page.mouse.click(300, 400)
    expect(shell.picker).to_be_hidden()
    chosen(shell, LAST)


def test_a_row_says_what_a_model_can_do_and_costs(window: Window, server: Server) -> None:
    shell = opened(Shell.open(window, server, MOUSE))
    row = shell.picker.locator(".row").filter(has_text="GLM 4.7 Flash")
    expect(row).to_contain_text("128k context · $0.06 in · $0.40 out")
    expect(row.locator(".badges")).to_have_text(re.compile("reasoning.*tools"))
    shell.picker.get_by_role("searchbox").fill("tools")
    assert set(shell.picker.locator(".row:visible .badges").all_inner_texts()) != set()
    for badges in shell.picker.locator(".row:visible .badges").all_inner_texts():
        assert "tools" in badges
        assert "vision" not in badges, "nothing can be attached yet"
    shell.picker.get_by_role("searchbox").fill("no such thing")
    expect(shell.picker.get_by_text("No model is called that.")).to_be_visible()


def test_a_choice_that_does_not_load_says_so_and_loads_the_next_time(window: Window, server: Server) -> None:
    shell = Shell.open(window, server, MOUSE)
    shell.page.route("**/models/", lambda route: route.abort())
    shell.press(shell.page.get_by_role("button", name="Model:"))
    expect(shell.picker).to_have_text("This could not be loaded. Try again.")
    shell.page.keyboard.press("Escape")
    shell.page.unroute_all()
    opened(shell)


def test_without_javascript_a_select_chooses(window: Window, server: Server, fake) -> None:
    page = window(server, "alice", java_script_enabled=False)
    page.goto("/")
    expect(page.get_by_role("button", name="Model:")).to_be_hidden()
    page.get_by_role("combobox", name="Model").select_option(label=OTHER)
    page.get_by_role("textbox", name="Your message").fill("Hello")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("article.reply")).to_have_attribute("data-status", "complete")
    assert fake.calls[-1]["path"].endswith("llama-3.2-3b-instruct")
