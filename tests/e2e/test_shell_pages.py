"""The sidebar, the header and their dialogs are read, seen and reached by everybody, at every width."""

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import Window
from tests.e2e.network import Network
from tests.e2e.page_observers import SHIFTS
from tests.e2e.sidebar_page import conversations, drop
from tests.support.server import Server
from tests.support.waiting import until

LONG = "A title that goes on and on until nobody would read it to its end, however wide the"
RIGHT_TO_LEFT = "كيف أطبخ الكسكس المغربي على الطريقة التقليدية مع الخضار؟"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
HELD = 15.0  # seconds; these machines are busy
PAINT = 300  # milliseconds
PAINTED = "() => performance.getEntriesByName('first-paint').length > 0"


@pytest.fixture
def three(server: Server) -> list[str]:
    drop(server.database, "alice")
    return conversations(server.database, "alice", [LONG[:80], RIGHT_TO_LEFT, "Short"])


def test_nothing_overflows_at_any_width(window: Window, server: Server, three) -> None:
    page = window(server, "alice")
    for path in (f"/c/{three[0]}/", f"/c/{three[1]}/", "/"):
        page.goto(path)
        for width in (320, 390, 800, 1280, 2560):
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_function("width => innerWidth === width", arg=width)
            assert page.evaluate(OVERFLOW) == 0, width
            for control in page.locator(".topbar > button:visible, .topbar > h1, #pick").all():
                box = control.bounding_box()
                assert box
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= width


@pytest.mark.parametrize("width", [1280, 390])
def test_loading_the_sidebar_module_moves_nothing(window: Window, server: Server, three, width: int) -> None:
    page = window(server, "alice", at=f"/c/{three[0]}/", width=width)
    page.locator("h1").hover()
    page.get_by_role("button", name="Model:").hover()
    expect(page.locator(".options-button").first).to_be_attached()
    assert page.evaluate(SHIFTS) < 0.001


@pytest.mark.parametrize("mark", ['id="menu-button"', 'class="composer-dock"', 'id="composer"'])
def test_a_page_that_arrives_in_two_parts_moves_nothing(
    window: Window, server: Server, three, mark: str
) -> None:
    """Delay the end of the page, as a slow line does: without its end it would be painted."""
    network = Network(server.port)
    try:
        page = window(network, "alice", width=390)
        network.hold(mark.encode())
        page.goto(f"/c/{three[0]}/", wait_until="commit")
        until(lambda: network.holds, HELD)
        page.locator("h1").wait_for(state="attached")
        page.wait_for_timeout(PAINT)  # an early paint would come now
        network.go_on()
        page.wait_for_function(PAINTED)
        assert page.evaluate(SHIFTS) < 0.001
    finally:
        network.close()
