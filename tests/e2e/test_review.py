"""The review as a reviewer does it, and its owner's view of it."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.admin.seed_cli import plant
from tests.e2e.accessibility import problems
from tests.e2e.chat_page import Window
from tests.support.server import Server

LIST = "/admin/chat/conversation/"
WIDTHS = (1280, 390)
AT_ONCE = 11  # Tabs to the links above a transcript, with those of the header and its bar
LONG = "A title as long as people write them, which does not fit into a column, number {n}"
EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>"
SCRIPT = f"""
EVIL = {EVIL!r}
bread = talk("alice", "Sourdough while I am away", 2, question="Can it rest?\\nFor {{n}} weeks?",
    reply="Into the **fridge**:\\n\\n- feed\\n- cool\\n\\n```python\\nrest({{n}})\\n```\\n\\n"
        "| day | do |\\n|---|---|\\n| 1 | feed |",
    reasoning="They ask about the cold.")
bread.system = "You are a baker."
bread.save()
first, reply = messages_of(bread)[:2]
judge(reply, False, "It forgot the flour.")
branch(reply, bread, question="And without a fridge?", reply="", status="failed", error_code="busy",
    error_message="The model is busy.", request_id="req-77", completion_tokens=None)
talks("bob", ["Boats one", "Boats two", "Boats three"])
talk(EVIL[:40], EVIL, question=EVIL, reply=EVIL + "\\n\\n[x](javascript:alert(3))", reasoning=EVIL)
long = talk("bob", "A long one", 130)
print(bread.pk, long.pk)
"""


@pytest.fixture(scope="module")
def planted(server: Server) -> list[str]:
    """The addresses of a conversation with all there is to see, and of a long one."""
    return [f"{LIST}{key}/change/" for key in plant(server, SCRIPT)]


def tab_to(page: Page, wanted: Locator, most: int = 40) -> None:
    """Go there with the Tab key only."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if wanted.evaluate("(element) => element === document.activeElement"):
            return
    raise AssertionError(f"no Tab leads to {wanted}")


def fits(page: Page) -> None:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function("width => innerWidth === width", arg=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_reviewer_can_navigate_by_keyboard(window: Window, server: Server, planted: list[str]) -> None:
    page = window(server, "erin", at=LIST)
    tab_to(page, page.locator("#searchbar"))
    page.keyboard.type("boats")
    page.keyboard.press("Enter")
    newest = page.get_by_role("link", name="Boats three")
    expect(page.locator("#result_list tbody tr")).to_have_count(3)
    tab_to(page, newest)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Boats three")  # a Tab before would be lost
    for title in ("Boats two", "Boats one"):
        following = page.get_by_role("link", name="Next").first
        tab_to(page, following, AT_ONCE)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
    expect(page.get_by_role("link", name="Next")).to_have_count(0)
    tab_to(page, page.get_by_role("link", name="Previous").first, AT_ONCE)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Boats two")
    tab_to(page, page.get_by_role("link", name="All chats").first, AT_ONCE)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/conversation/\?q=boats$"))
    expect(page.locator("#result_list tbody tr")).to_have_count(3)


def test_a_transcript_is_easy_to_read_on_a_desk_and_on_a_phone(
    window: Window, server: Server, planted: list[str]
) -> None:
    page = window(server, "erin")
    scripts: list[str] = []
    page.on("request", lambda request: scripts.append(request.resource_type))
    page.goto(planted[0])
    thoughts = page.get_by_text("They ask about the cold.").first
    expect(thoughts).to_be_hidden()
    page.get_by_text("Thinking").first.click()
    expect(thoughts).to_be_visible()
    page.get_by_text("Instructions").click()
    expect(page.get_by_text("You are a baker.")).to_be_visible()
    fits(page)
    assert problems(page) == []
    assert "script" not in scripts


def test_a_screen_shows_fourteen_conversations(window: Window, server: Server, planted: list[str]) -> None:
    titles, model = [LONG.format(n=n) for n in range(14)], "@cf/deepseek-ai/deepseek-r1-distill-qwen-32b"
    plant(server, f"talks('bob', {titles}, model={model!r})")
    page = window(server, "erin")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{LIST}?q=title")
    rows = page.locator("#result_list tbody tr")
    expect(rows).to_have_count(14)
    last = rows.last.bounding_box()
    assert last
    assert last["y"] + last["height"] <= 800
    assert page.locator(".results").evaluate("(list) => list.scrollWidth <= list.clientWidth")
    expect(page.get_by_title(LONG.format(n=13))).to_be_visible()
