"""The list of conversations stands where it stood, with the open one in view, before anything is painted."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import Window
from tests.e2e.input_methods import FINGER, MOUSE
from tests.e2e.sidebar_page import Shell, conversations, drop
from tests.support.server import Server

MANY, FAR_DOWN = 450, 300
# In each painted frame: the place of the list, and that of the open conversation in it. A message is handled
# after the frame in which it was sent.
PAINTED = """window.painted = [];
window.stood = [];
const look = () => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    const list = document.getElementById('conversations');
    if (list?.clientHeight) {
      window.painted.push(Math.round(list.scrollTop));
      window.stood.push(list.querySelector('[aria-current]')?.offsetTop - list.scrollTop);
    }
    look();
  };
  port2.postMessage(0);
});
look();"""


@pytest.fixture(scope="module")
def ids(server: Server) -> list[str]:
    drop(server.database, "alice")
    return conversations(server.database, "alice", [f"Number {n}" for n in range(MANY)])


def scrolled(page: Page, top: int) -> None:
    page.locator("#conversations").evaluate("(list, top) => list.scrollTo(0, top)", top)
    page.wait_for_function("(top) => document.getElementById('conversations').scrollTop === top", arg=top)


def offset(page: Page, title: str) -> float:
    """Return the distance of its row from the upper edge of the list, in pixels."""
    row = page.locator("#conversations").get_by_role("link", name=title, exact=True)
    return float(
        row.evaluate(
            "(link) => link.getBoundingClientRect().top"
            " - document.getElementById('conversations').getBoundingClientRect().top"
        )
    )


def painted(page: Page) -> set[int]:
    page.wait_for_function("() => window.painted.length > 3")
    return set(page.evaluate("window.painted"))


def test_the_list_keeps_its_scroll_position(window: Window, server: Server, ids: list[str]) -> None:
    page = window(server, "alice")
    page.add_init_script(PAINTED)
    page.goto("/")
    scrolled(page, 2900)
    before = offset(page, "Number 75")
    page.get_by_role("link", name="Number 75", exact=True).click()
    expect(page).to_have_title("Number 75")
    assert painted(page) == {2900}
    assert offset(page, "Number 75") == before
    page.reload()
    assert painted(page) == {2900}
    page.get_by_role("link", name="Number 77", exact=True).click()
    expect(page).to_have_title("Number 77")
    page.go_back()
    expect(page).to_have_title("Number 75")
    assert offset(page, "Number 75") == before
    page.get_by_role("link", name="New chat").click()
    expect(page).to_have_title("New chat")
    assert painted(page) == {2900}


def test_a_conversation_opened_by_its_url_is_in_view(window: Window, server: Server, ids: list[str]) -> None:
    page = window(server, "alice")
    page.add_init_script(PAINTED)
    page.goto(f"/c/{ids[150]}/")
    expect(page.locator("#conversations [aria-current]")).to_be_in_viewport(ratio=1)
    assert len(painted(page)) == 1


def test_in_a_drawer_the_open_one_is_in_view_as_well(window: Window, server: Server, ids: list[str]) -> None:
    shell = Shell.open(window, server, FINGER, f"/c/{ids[150]}/")
    for _ in range(2):
        shell.show_list()
        expect(shell.list.locator("[aria-current]")).to_be_in_viewport(ratio=1)
        shell.page.keyboard.press("Escape")
        expect(shell.list).to_be_hidden()


def test_a_folded_list_stands_there_when_it_is_unfolded(
    window: Window, server: Server, ids: list[str]
) -> None:
    page = window(server, "alice")
    page.context.add_cookies([{"name": "sidebar", "value": "folded", "url": server.url}])
    page.goto(f"/c/{ids[150]}/")
    expect(page.locator("#conversations")).to_be_hidden()
    page.keyboard.press("Control+Shift+S")
    expect(page.locator("#conversations [aria-current]")).to_be_in_viewport(ratio=1)


def test_an_old_open_conversation_keeps_its_place_in_the_list(
    window: Window, server: Server, ids: list[str]
) -> None:
    page = window(server, "alice")
    page.add_init_script(PAINTED)
    page.goto(f"/c/{ids[FAR_DOWN]}/")
    title = f"Number {FAR_DOWN}"
    shell = Shell(page, MOUSE)
    expect(shell.list.locator("[aria-current]")).to_be_in_viewport(ratio=1)
    painted(page)
    # A mouse that rests on the list has those between added meanwhile, above it.
    stood = page.evaluate("window.stood")
    assert max(stood) - min(stood) <= 1
    before = offset(page, title)
    shell.list.hover()
    expect(shell.list.get_by_role("listitem")).to_have_count(400)
    assert offset(page, title) == pytest.approx(before, abs=1)
    assert shell.titles() == [f"Number {n}" for n in range(400)]
    expect(shell.list.locator("[aria-current]")).to_have_text(title)
    page.reload()
    expect(shell.list.locator("[aria-current]")).to_be_in_viewport(ratio=1)
