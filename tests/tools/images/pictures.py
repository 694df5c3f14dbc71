"""The still pictures."""

from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage
from tests.tools.images.frame import save
from tests.tools.images.sample_replies import BREAD, SAVING
from tests.tools.images.stage import Stage

DESK = (1180, 884)
PHONE = (390, 720)


def conversation(stage: Stage) -> str:
    """Asks what the large pictures show, under a title of its own. Returns the path."""
    alice = stage.server.person("alice")
    key = alice.asked(SAVING).conversation
    alice.post(f"/c/{key}/rename/", {"title": "Saving €150 a month"}).raise_for_status()
    return f"/c/{key}/"


def chat(stage: Stage, path: str, scheme: str, file: Path) -> None:
    with stage.page("alice", *DESK, color_scheme=scheme) as page:
        page.goto(path)
        # The options come with a module of their own.
        expect(page.locator("#conversations li:has([aria-current]) .options-button")).to_be_visible()
        save(page.screenshot(), scheme, file)


def phone(stage: Stage, file: Path) -> None:
    with stage.page("alice", *PHONE, color_scheme="dark", is_mobile=True, has_touch=True) as page:
        page.goto("/")
        chat = ChatPage(page)
        chat.ask(BREAD)
        chat.ended()
        save(page.screenshot(), "dark", file)


def review(stage: Stage, file: Path) -> None:
    with stage.page("erin", 940, 925) as page:
        page.goto(stage.reviewed)
        save(page.screenshot(), "light", file)
