"""Choosing a model."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.chat_page import Window
from tests.e2e.input_methods import FINGER, KEYBOARD, MOUSE, MOUSE_ELSEWHERE, Way, by
from tests.e2e.sidebar_page import Shell
from tests.support.server import Server

LAST = "GPT OSS 20B"  # of the conversation that is there
DEFAULT, FIRST_DOOR = "GLM 4.7 Flash", "Everyday"  # of the site
OTHER = "Llama 3.2 3B"
RETIRED = "@cf/meta/llama-2-7b-chat-int8"
WORD = "Llama 2 7B Chat is no longer available. From your next message on, GLM 4.7 Flash answers."

pytestmark = pytest.mark.usefixtures("one")


def opened(shell: Shell) -> Shell:
    """Show all models, behind the doors."""
    shell.press(shell.page.get_by_role("button", name="Model:"))
    shell.press(shell.picker.get_by_role("button", name="All models"))
    expect(shell.picker.get_by_role("radio").first).to_be_visible()
    return shell


def chosen(shell: Shell, name: str) -> None:
    expect(shell.page.get_by_role("button", name="Model:")).to_have_text(re.compile(name))


@MOUSE_ELSEWHERE
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
    shell.chat.asked("Hello")
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
def test_a_new_chat_proposes_the_sites_model_and_takes_another(
    window: Window, server: Server, fake, way: Way
) -> None:
    shell = Shell.open(window, server, way)
    chosen(shell, FIRST_DOOR)  # whatever the latest chat has
    opened(shell)
    row = shell.picker.get_by_role("radio", name=OTHER)
    if way.name == "keyboard":
        shell.page.keyboard.press("ArrowDown")
        expect(shell.picker.get_by_role("radio", name=DEFAULT)).to_be_focused()
        while not row.is_checked():
            shell.page.keyboard.press("ArrowDown")
        chosen(shell, FIRST_DOOR)  # walking is not choosing
        shell.page.keyboard.press("Enter")
    else:
        shell.press(shell.picker.get_by_text(OTHER))
    expect(shell.page.locator("#pick .label")).to_have_text(OTHER)
    shell.chat.asked("Hello")
    expect(shell.chat.reply.locator("[data-part=model]")).to_have_text(OTHER)
    assert fake.calls[-1]["path"].endswith("llama-3.2-3b-instruct")


def test_escape_chooses_nothing_and_so_does_a_click_beside(window: Window, server: Server) -> None:
    shell = opened(Shell.open(window, server, KEYBOARD))
    for _ in range(3):
        shell.page.keyboard.press("ArrowDown")
    shell.page.keyboard.press("Escape")
    expect(shell.picker).to_be_hidden()
    expect(shell.page.get_by_role("button", name="Model:")).to_be_focused()
    chosen(shell, FIRST_DOOR)
    opened(shell)
    expect(shell.picker.get_by_role("radio", name=DEFAULT)).to_be_checked()
    shell.page.mouse.click(300, 400)
    expect(shell.picker).to_be_hidden()
    chosen(shell, FIRST_DOOR)


def groups(shell: Shell) -> dict[str, list[str]]:
    """The names of the models in each group that is shown."""
    shown = shell.picker.get_by_role("group").all()
    return {
        group.get_by_role("heading").inner_text(): group.locator(
            ".model-row:visible .label"
        ).all_inner_texts()
        for group in shown
    }


def test_recent_models_stand_first_and_then_the_makers(window: Window, server: Server) -> None:
    shell = opened(Shell.open(window, server, MOUSE))
    found = groups(shell)
    assert list(found)[:2] == ["Recent", "Z.ai"]
    assert found["Recent"] == [LAST]
    assert OTHER in found["Meta"]
    assert found["OpenAI"] == ["GPT OSS 120B"]
    shell.picker.get_by_role("searchbox").fill("meta")
    assert list(groups(shell)) == ["Meta"]
    shell.picker.get_by_role("searchbox").fill("southeast asia")
    assert groups(shell) == {"AI Singapore": ["Gemma Sea Lion V4 27B"]}
    expect(shell.picker.get_by_role("status")).to_have_text("1 model")


def star(shell: Shell, name: str) -> Locator:
    return shell.picker.get_by_role("button", name=f"Favorite: {name}", exact=True)


def press_star(shell: Shell, name: str) -> None:
    """Tab leads from a model to its own star."""
    if shell.way.name != "keyboard":
        return shell.press(star(shell, name))
    shell.page.keyboard.type(name)
    shell.page.keyboard.press("ArrowDown")
    shell.page.keyboard.press("Tab")
    expect(star(shell, name)).to_be_focused()
    return shell.page.keyboard.press("Space")


@MOUSE_ELSEWHERE
def test_favourites_stand_first_the_next_time(window: Window, server: Server, way: Way) -> None:
    shell = opened(Shell.open(window, server, way))
    with shell.page.expect_response("**/models/favourites/"):
        press_star(shell, OTHER)
    expect(star(shell, OTHER)).to_have_attribute("aria-pressed", "true")
    shell.page.keyboard.press("Escape")
    shell.page.reload()
    assert groups(opened(shell))["Favorites"] == [OTHER]
    chosen(shell, FIRST_DOOR)
    with shell.page.expect_response("**/models/favourites/"):
        press_star(shell, OTHER)
    shell.page.keyboard.press("Escape")
    assert "Favorites" not in groups(opened(shell))


def test_a_favourite_that_is_not_saved_is_taken_back(window: Window, server: Server) -> None:
    shell = opened(Shell.open(window, server, MOUSE))
    shell.page.route("**/models/favourites/", lambda route: route.abort())
    star(shell, OTHER).click()
    expect(shell.picker.get_by_role("status")).not_to_be_empty()
    expect(star(shell, OTHER)).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize("size", [(1280, 800), (844, 390), (640, 400), (320, 640)])
def test_rows_have_one_height_and_the_list_has_room(
    window: Window, server: Server, size: tuple[int, int]
) -> None:
    page = window(server, "alice", width=size[0])
    page.set_viewport_size({"width": size[0], "height": size[1]})
    shell = Shell(page, MOUSE)
    page.goto("/")
    opened(shell)
    heights = page.locator(".model-row:visible").evaluate_all("rows => rows.map((row) => row.offsetHeight)")
    assert len(set(heights)) == 1
    assert page.locator(".model-list").evaluate("list => list.clientHeight") > size[1] / 2
    assert page.locator(".model-list").evaluate("list => list.scrollWidth <= list.clientWidth")


def test_a_failed_model_list_loads_the_next_time(window: Window, server: Server) -> None:
    shell = Shell.open(window, server, MOUSE)
    shell.page.route("**/models/", lambda route: route.abort())
    shell.press(shell.page.get_by_role("button", name="Model:"))
    expect(shell.picker).to_have_text("Couldn’t load. Try again.")
    shell.page.keyboard.press("Escape")
    shell.page.unroute_all()
    opened(shell)


def test_a_chat_with_a_retired_model_says_so_and_goes_on(window: Window, server: Server, one, fake) -> None:
    server.person("alice").asked("hello", f"/c/{one}/messages/")
    mine = one.replace("-", "")
    server.database.rows(f"UPDATE chat_conversation SET model = '{RETIRED}' WHERE id = '{mine}'")
    server.database.rows(
        f"UPDATE chat_message SET model = '{RETIRED}' WHERE conversation_id = '{mine}' AND role = 'assistant'"
    )
    shell = Shell.open(window, server, MOUSE, f"/c/{one}/")
    expect(shell.page.get_by_text(WORD)).to_be_visible()
    expect(shell.chat.reply.locator("[data-part=model]")).to_have_text("Llama 2 7B Chat")
    shell.press(shell.page.get_by_role("button", name="Model:"))
    expect(shell.picker.get_by_text(WORD)).to_be_visible()
    expect(shell.picker.get_by_role("button", name="Everyday")).to_have_attribute("aria-current", "true")
    shell.page.keyboard.press("Escape")
    expect(shell.picker).to_be_hidden()
    shell.chat.ask("And now?")
    expect(shell.chat.replies).to_have_count(2)
    shell.chat.ended()
    assert fake.calls[-1]["path"].endswith("@cf/zai-org/glm-4.7-flash")
    shell.page.reload()
    expect(shell.page.get_by_text(WORD)).to_have_count(0)
    names = shell.page.locator("[data-part=model]")
    expect(names.first).to_have_text("Llama 2 7B Chat")
    expect(names.last).to_have_text("GLM 4.7 Flash")
