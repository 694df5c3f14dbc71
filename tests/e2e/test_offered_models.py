"""The administrator decides about models, and people see what is left of them; retired ones are replaced."""

import re
from functools import partial

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import Window
from tests.e2e.input_methods import FINGER, MOUSE, Way, by
from tests.e2e.sidebar_page import Shell, conversations, drop
from tests.fake_cloudflare.models import finetune, price, record
from tests.fake_cloudflare.server import Fake
from tests.support.server import Server
from tests.support.waiting import until

LIST = "/admin/chat/sitemodel/"
NEW = "@cf/maker/new-9b-instruct"
LLAMA = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
RETIRED = "@cf/meta/llama-2-7b-chat-int8"
WORD = "Llama 2 7B Chat is no longer available. GLM 4.7 Flash answers from your next message on."
soon = partial(until, patience=15)  # seconds


@pytest.fixture(scope="module", autouse=True)
def listed(server: Server, fake: Fake) -> None:
    """A list with a new model, which is to end, and a finetune."""
    facts = {"context_window": "9000", "beta": "true", "require_workers_paid": "true", "vision": "true"}
    facts |= {"price": price(0.15, 0.5), "planned_deprecation_date": "2099-05-30"}
    fake.lists.models.append(record(NEW, **facts))
    fake.lists.finetunes.append(finetune("cats", LLAMA))
    # The list that the server fetches at its start may lack these, and its end would delay the next fetch.
    soon(lambda: server.database.value("SELECT count(*) FROM chat_catalogstate WHERE fetched IS NOT NULL"))
    server.database.rows("UPDATE chat_catalogstate SET due = '2026-01-01 00:00:00'")
    soon(lambda: NEW in server.person("bob").get("/models/").text)


def opened(window: Window, server: Server, path: str, **options: object) -> Page:
    return window(server, "root", at=path, **options)


def choose(page: Page, action: str, *names: str) -> None:
    for name in names:
        page.get_by_role("row", name=re.compile(name)).get_by_role("checkbox").first.check()
    page.locator("select[name=action]").select_option(label=action)
    with page.expect_navigation():  # what the page before it showed does not count
        page.get_by_role("button", name="Go").click()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_administrator_hides_shows_and_makes_a_default(
    window: Window, server: Server, width: int
) -> None:
    page = opened(window, server, LIST, width=width)
    expect(page.get_by_role("heading", name="Cloudflare’s model list was last updated on")).to_be_visible()
    choose(page, "Hide", "Granite 4.0 H Micro")
    expect(page.get_by_text("1 model was changed.")).to_be_visible()
    soon(lambda: "Granite" not in server.person("bob").get("/models/").text)
    choose(page, "Show", "Granite 4.0 H Micro")
    soon(lambda: "Granite" in server.person("bob").get("/models/").text)
    choose(page, "Set as default", "Llama 3.2 3B")
    expect(page.get_by_text("Llama 3.2 3B is now the default model.")).to_be_visible()
    choose(page, "Hide", "Llama 3.2 3B")
    expect(page.get_by_text("Make another one the default first.")).to_be_visible()
    choose(page, "Set as default", "GLM 4.7 Flash")
    expect(page.get_by_text("GLM 4.7 Flash is now the default model.")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_finetune_is_chosen_beside_its_base_and_answers(window: Window, server: Server, fake: Fake) -> None:
    shell = Shell.open(window, server, MOUSE)
    shell.press(shell.page.get_by_role("button", name="Model:"))
    shell.press(shell.picker.get_by_role("button", name="All models"))
    row = shell.picker.locator(".model-row").filter(has_text="cats (Llama 3.3 70B Fast)")
    expect(row.locator(".badges")).to_contain_text("finetune")
    row.click()
    shell.chat.asked("Hello")
    assert fake.calls[-1]["path"].endswith(LLAMA)
    assert fake.calls[-1]["body"]["lora"]
    expect(shell.chat.reply.locator("[data-part=model]")).to_have_text("cats (Llama 3.3 70B Fast)")


@by(MOUSE, FINGER)
def test_a_conversation_with_a_retired_model_says_so_and_goes_on(
    window: Window, server: Server, fake: Fake, way: Way
) -> None:
    drop(server.database, "alice")
    key = conversations(server.database, "alice", ["Of old"])[0]
    server.person("alice").asked("hello", f"/c/{key}/messages/")
    mine = key.replace("-", "")
    server.database.rows(f"UPDATE chat_conversation SET model = '{RETIRED}' WHERE id = '{mine}'")
    server.database.rows(
        f"UPDATE chat_message SET model = '{RETIRED}' WHERE conversation_id = '{mine}' AND role = 'assistant'"
    )
    shell = Shell.open(window, server, way, f"/c/{key}/")
    expect(shell.page.get_by_text(WORD)).to_be_visible()
    expect(shell.chat.reply.locator("[data-part=model]")).to_have_text("Llama 2 7B Chat")
    shell.press(shell.page.get_by_role("button", name="Model:"))
    expect(shell.picker.get_by_text(WORD)).to_be_visible()
    expect(shell.picker.get_by_role("button", name="Everyday")).to_have_attribute("aria-current", "true")
    shell.page.keyboard.press("Escape")
    expect(shell.picker).to_be_hidden()
    shell.chat.ask("And now?")
    expect(shell.chat.replies).to_have_count(2)  # a finger's tap is heard a moment later
    shell.chat.ended()
    assert fake.calls[-1]["path"].endswith("@cf/zai-org/glm-4.7-flash")
    shell.page.reload()
    expect(shell.page.get_by_text(WORD)).to_have_count(0)
    names = shell.page.locator("[data-part=model]")
    expect(names.first).to_have_text("Llama 2 7B Chat")
    expect(names.last).to_have_text("GLM 4.7 Flash")
