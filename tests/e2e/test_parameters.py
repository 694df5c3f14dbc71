"""The parameters of the model, in the dialog of a conversation's settings."""

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.chat_page import Window
from tests.e2e.input_methods import FINGER, KEYBOARD, MOUSE, MOUSE_ELSEWHERE, Way
from tests.e2e.sidebar_page import Shell
from tests.support.server import Server

GLM, LLAMA = "@cf/zai-org/glm-4.7-flash", "@cf/meta/llama-3.3-70b-instruct-fp8-fast"

IN_VIEW = """(button) => {
  const { left, top, right, bottom } = button.getBoundingClientRect();
  const onTop = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return bottom <= innerHeight && onTop === button;
}"""


pytestmark = pytest.mark.usefixtures("one")


def opened(shell: Shell) -> Locator:
    """Open the dialog, all unfolded."""
    shell.open_instructions()
    dialog = shell.instructions
    expect(dialog).to_be_visible()
    model = shell.page.locator("#model").input_value()  # whose parameters may be on their way
    expect(dialog.locator("#parameters")).to_have_attribute("data-model", model)
    if not dialog.locator("details").evaluate("details => details.open"):
        shell.press(dialog.locator("summary"))
    return dialog


def number(dialog: Locator, name: str) -> Locator:
    return dialog.get_by_role("spinbutton", name=name, exact=True)


def level(dialog: Locator, name: str) -> Locator:
    return dialog.get_by_role("radio", name=name, exact=True)


def choose(shell: Shell, radio: Locator) -> None:
    """The arrows walk through a group of which Tab reaches the chosen one only."""
    if shell.way.name != "keyboard":
        return shell.press(radio)
    group = radio.locator("xpath=ancestor::fieldset[1]")
    shell.reach(group.locator("input:checked"))
    for _ in range(6):
        if radio.is_checked():
            return None
        shell.page.keyboard.press("ArrowRight")
    raise AssertionError(f"the arrows do not lead to {radio}")


def saved(shell: Shell) -> None:
    shell.press(shell.instructions.get_by_role("button", name="Save"))
    expect(shell.instructions).to_be_hidden()


def sent(fake) -> dict[str, Any]:
    return {
        name: value for name, value in fake.calls[-1]["body"].items() if name not in ("messages", "stream")
    }


def next_request_body(shell: Shell, fake) -> dict[str, Any]:
    before = shell.chat.questions.count()
    shell.chat.ask("Hello")
    expect(shell.chat.questions).to_have_count(before + 1)  # a finger's tap is heard a moment later
    shell.chat.ended()
    return sent(fake)


@MOUSE_ELSEWHERE
def test_chosen_values_are_sent_and_shown_again(window: Window, server: Server, one, fake, way: Way) -> None:
    shell = Shell.open(window, server, way, f"/c/{one}/")
    dialog = opened(shell)
    choose(shell, level(dialog, "Low"))
    number(dialog, "Temperature").fill("0.25")
    saved(shell)
    assert next_request_body(shell, fake) == {
        "max_tokens": 16_384,
        "temperature": 0.25,
        "reasoning_effort": "low",
    }
    shell.page.reload()
    dialog = opened(shell)
    expect(level(dialog, "Low")).to_be_checked()
    expect(number(dialog, "Temperature")).to_have_value("0.25")
    shell.press(dialog.get_by_role("button", name="Reset to defaults"))
    expect(level(dialog, "Default (Medium)")).to_be_checked()
    expect(number(dialog, "Temperature")).to_have_value("")
    saved(shell)
    assert next_request_body(shell, fake) == {"max_tokens": 16_384}


def test_those_of_a_new_chat_go_with_its_first_question(window: Window, server: Server, fake) -> None:
    """Use a finger only, because the dialog is the one of the test above."""
    shell = Shell.open(window, server, FINGER)
    shell.page.locator("#model").select_option(GLM, force=True)
    dialog = opened(shell)
    number(dialog, "Longest reply (tokens)").fill("500")
    number(dialog, "Longest reply (tokens)").press("Enter")
    expect(shell.instructions).to_be_hidden()
    shell.page.reload()
    shell.page.locator("#model").select_option(GLM, force=True)
    dialog = opened(shell)
    expect(number(dialog, "Longest reply (tokens)")).to_have_value("500")
    shell.page.keyboard.press("Escape")
    expect(shell.instructions).to_be_hidden()
    shell.press(shell.page.locator(".think:has(#thinking)"))  # in the message box
    first = next_request_body(shell, fake)
    assert first == {"max_tokens": 500, "chat_template_kwargs": {"enable_thinking": False}}
    assert next_request_body(shell, fake) == first
    dialog = opened(shell)
    number(dialog, "Longest reply (tokens)").fill("")
    saved(shell)
    assert next_request_body(shell, fake) == first | {"max_tokens": 16_384}
    shell.page.goto("/")
    shell.chat.asked("Hello")
    assert sent(fake) == {"max_tokens": 16_384}


def test_another_model_shows_what_it_knows(window: Window, server: Server, one, fake) -> None:
    shell = Shell.open(window, server, MOUSE, f"/c/{one}/")
    dialog = opened(shell)
    expect(dialog.get_by_role("group", name="GPT OSS 20B")).to_be_visible()
    expect(number(dialog, "Top K")).to_have_count(0)
    level(dialog, "High").check()
    number(dialog, "Temperature").fill("1.5")
    saved(shell)
    shell.page.locator("#model").select_option(LLAMA, force=True)
    dialog = opened(shell)
    expect(dialog.get_by_role("group", name="Llama 3.3 70B Fast")).to_be_visible()
    expect(dialog.get_by_role("radio")).to_have_count(0)
    expect(number(dialog, "Temperature")).to_have_value("1.5")
    number(dialog, "Temperature").fill("4")
    dialog.get_by_role("button", name="Save").click()
    expect(number(dialog, "Temperature")).to_be_focused()  # this model accepts it, but the form does not
    shell.page.keyboard.press("Escape")
    server.person("alice").post(f"/c/{one}/settings/", {"parameters": {"temperature": 4}})
    shell.page.reload()
    shell.page.locator("#model").select_option(LLAMA, force=True)
    dialog = opened(shell)
    expect(number(dialog, "Temperature")).to_have_value("4")
    number(dialog, "Top K").fill("20")
    saved(shell)
    assert next_request_body(shell, fake) == {"max_tokens": 8_000, "temperature": 4, "top_k": 20}
    shell.page.locator("#model").select_option("@cf/zai-org/glm-5.2", force=True)
    dialog = opened(shell)
    expect(level(dialog, "High")).to_be_checked()
    expect(number(dialog, "Temperature")).to_have_value("2")
    saved(shell)  # and changes nothing: what was fitted for show is not what was chosen
    shell.page.locator("#model").select_option(LLAMA, force=True)
    expect(number(opened(shell), "Temperature")).to_have_value("4")


@MOUSE_ELSEWHERE
def test_a_slider_and_a_reset_set_the_temperature(
    window: Window, server: Server, one, fake, way: Way
) -> None:
    shell = Shell.open(window, server, way, f"/c/{one}/")
    dialog = opened(shell)
    slider = dialog.get_by_role("slider", name="Temperature")
    expect(slider).to_have_attribute("aria-valuetext", "Model’s default")
    if way.name == "keyboard":
        shell.reach(slider)
        shell.page.keyboard.press("Home")
        for _ in range(3):
            shell.page.keyboard.press("ArrowRight")
    else:
        slider.fill("0.3")
    expect(number(dialog, "Temperature")).to_have_value("0.3")
    number(dialog, "Temperature").fill("0.75")
    expect(slider).to_have_attribute("aria-valuetext", "0.75")
    saved(shell)
    assert next_request_body(shell, fake)["temperature"] == 0.75
    dialog = opened(shell)
    shell.press(dialog.get_by_role("button", name="Reset Temperature to its default"))
    expect(number(dialog, "Temperature")).to_have_value("")
    expect(number(dialog, "Temperature")).to_be_focused()
    expect(slider).to_have_attribute("aria-valuetext", "Model’s default")
    saved(shell)
    assert "temperature" not in next_request_body(shell, fake)


@pytest.mark.parametrize("size", [(844, 390), (640, 400), (320, 640), (1280, 800)])
def test_save_is_in_view_wherever_the_settings_are_scrolled(
    window: Window, server: Server, one, size: tuple[int, int]
) -> None:
    page = window(server, "alice", width=size[0])
    page.set_viewport_size({"width": size[0], "height": size[1]})
    shell = Shell(page, MOUSE)
    page.goto(f"/c/{one}/")
    dialog = opened(shell)
    save = dialog.get_by_role("button", name="Save")
    for top in (0, 150, 100_000):
        dialog.evaluate("(dialog, top) => { dialog.scrollTop = top; }", top)
        assert save.evaluate(IN_VIEW)
    number(dialog, "Seed").focus()
    under = number(dialog, "Seed").evaluate("field => field.getBoundingClientRect().bottom")
    assert under <= dialog.locator(".foot").evaluate("foot => foot.getBoundingClientRect().top")


def test_a_value_beyond_its_range_is_not_saved(window: Window, server: Server, one) -> None:
    shell = Shell.open(window, server, MOUSE, f"/c/{one}/")
    dialog = opened(shell)
    number(dialog, "Top P").fill("1.5")
    dialog.locator("summary").click()
    dialog.get_by_role("button", name="Save").click()
    expect(number(dialog, "Top P")).to_be_focused()
    expect(dialog).to_be_visible()
    number(dialog, "Top P").fill("0.5")
    saved(shell)


@pytest.mark.parametrize("ending", ["Escape", "Cancel"])
def test_unsaved_changes_are_not_kept(window: Window, server: Server, one, ending: str) -> None:
    shell = Shell.open(window, server, KEYBOARD, f"/c/{one}/")
    dialog = opened(shell)
    number(dialog, "Seed").fill("7")
    saved(shell)
    dialog = opened(shell)
    dialog.get_by_role("button", name="Reset to defaults").click()
    number(dialog, "Seed").fill("8")
    dialog.locator("#system").fill("Nonsense")
    if ending == "Escape":
        shell.page.keyboard.press("Escape")
    else:
        dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    for _ in range(2):
        expect(number(opened(shell), "Seed")).to_have_value("7")
        expect(dialog.locator("#system")).to_have_value("")
        saved(shell)


def test_the_dialog_reports_that_parameters_did_not_load(window: Window, server: Server, one) -> None:
    shell = Shell.open(window, server, MOUSE, f"/c/{one}/")
    shell.page.route("**/parameters/**", lambda route: route.abort())
    shell.page.locator("#model").select_option(LLAMA, force=True)
    shell.open_instructions()
    expect(shell.instructions.get_by_role("alert")).to_have_text("Couldn’t load. Try again.")
    shell.page.unroute_all()
    shell.page.keyboard.press("Escape")
    expect(opened(shell).get_by_role("group", name="Llama 3.3 70B Fast")).to_be_visible()
