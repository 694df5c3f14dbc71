"""The pictures for the README: `python -m tests.e2e.screenshot` writes them into deploy/.

The real server and the real page; only the model is a fake, which knows these two answers.
"""

import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.databases import ROOT, Template
from tests.e2e.chat_page import ChatPage
from tests.e2e.conftest import FLAGS
from tests.fake_run import SCENARIOS, Run, scenario
from tests.fake_workers_ai import TOKEN, Fake
from tests.people import SESSIONS
from tests.server import Server

SLOW = 0.2  # seconds a token: the picture is taken while the reply grows
EARLIER = ["Names for a sailing boat", "Why is the sky blue?", "A packing list for two days of rain"]
BREAD = "How do I keep a sourdough starter alive while I am away for three weeks?"
BREAD_SAID = (
    "Feed it, let it start to rise for an hour, and put it into the fridge in a jar with a loose lid. Cold "
    "slows the yeast down so much that three weeks are no trouble.\n\n"
    "When you are back, pour off the dark liquid, keep a spoonful, and feed it twice a day with equal parts "
    "of flour and water. It is ready when it doubles within six hours, mostly on the second day."
)
DRY = "And if the fridge is off while we travel?"
DRY_SAID = (
    "Then dry it. Spread a thin layer on baking paper and leave it at room temperature for a day or two, "
    "until it is brittle. Crumble it into a jar: dry flakes keep for months, even in summer.\n\n"
    "To wake it up, stir a spoonful of flakes into the same amount of warm water, wait until they are soft, "
    "and add flour. Expect bubbles after two or three feedings, and bake with it once it doubles again."
)
ANSWERS = {BREAD: BREAD_SAID, DRY: DRY_SAID}


@scenario
async def words(run: Run) -> None:
    """In place of the fake's own: what these questions deserve, the last one slowly."""
    said = ANSWERS.get(run.question, "")
    await SCENARIOS["native"](run, text=said or "Yes.", delay=SLOW if said == DRY_SAID else 0.005)


def server_of(template: Template, fake: Fake, folder: Path) -> Server:
    template.static_for(folder)
    account = {"CLOUDFLARE_ACCOUNT_ID": "acc", "CLOUDFLARE_API_TOKEN": TOKEN}
    database = template.copy(folder)
    return Server(
        folder, database, SECRET_KEY=template.secret_key, CLOUDFLARE_API_BASE_URL=fake.base_url, **account
    )


def take(browser: Browser, server: Server, name: str, width: int, **options: object) -> None:
    """A conversation of two turns; the second reply has come half way."""
    context = browser.new_context(base_url=server.url, viewport={"width": width, "height": 800}, **options)
    context.add_cookies([{"name": "sessionid", "value": SESSIONS["alice"], "url": server.url}])
    page = context.new_page()
    page.goto("/")
    chat = ChatPage(page)
    for question in (BREAD, DRY):
        chat.box.fill(question)
        chat.send.click()
        chat.grown_to(len(ANSWERS[question]) * 6 // 10)
        if question == BREAD:
            chat.ended()
    page.screenshot(path=ROOT / "deploy" / f"{name}.png")
    chat.stop.click()
    chat.ended("stopped")
    context.close()


def main() -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "template").mkdir()
        (folder / "server").mkdir()
        template = Template(folder / "template", "sqlite")
        server = server_of(template, stack.enter_context(Fake()), folder / "server").start()
        stack.callback(server.end)
        for asked in EARLIER:
            with server.person("alice").ask(asked) as stream:
                stream.to_end()
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        take(browser, server, "screenshot", 1280)
        take(
            browser, server, "screenshot-dark-phone", 390, color_scheme="dark", is_mobile=True, has_touch=True
        )
        browser.close()


if __name__ == "__main__":
    main()
