"""The real server and a real Chromium, for pictures."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.admin.seed_cli import plant
from tests.e2e.conftest import FLAGS, PATIENCE
from tests.fake_cloudflare.server import TOKEN, Fake
from tests.support.databases import Template
from tests.support.people import SESSIONS
from tests.support.server import Server
from tests.tools.images.prompter import Prompter

FONTS = Path(__file__).parent / "fonts.conf"
SHARP = 2  # pixels of the picture for each of the page


@dataclass(frozen=True)
class Stage:
    server: Server
    browser: Browser
    prompter: Prompter
    reviewed: str  # the address of a conversation in the review

    @contextmanager
    def page(self, name: str, width: int, height: int, **options: object) -> Iterator[Page]:
        """A window of somebody who is signed in. Nothing in it moves by itself."""
        context = self.browser.new_context(
            base_url=self.server.url,
            viewport={"width": width, "height": height},
            device_scale_factor=SHARP,
            reduced_motion="reduce",
            **options,
        )
        context.add_cookies([{"name": "sessionid", "value": SESSIONS[name], "url": self.server.url}])
        yield context.new_page()
        context.close()


@contextmanager
def set_up() -> Iterator[Stage]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        template = Template(folder, "sqlite")
        (folder / "server").mkdir()
        prompter = Prompter()
        fake = stack.enter_context(Fake(prompter.play))
        server = _server(template, fake, folder / "server").start()
        stack.callback(server.end)
        (reviewed,) = plant(server, "from tests.tools.images.past import sow; sow()")
        expect.set_options(timeout=PATIENCE)
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[*FLAGS, "--font-render-hinting=none"],
            env={**os.environ, "FONTCONFIG_FILE": str(FONTS)},
        )
        stack.callback(browser.close)
        yield Stage(server, browser, prompter, f"/admin/chat/conversation/{reviewed}/change/")


def _server(template: Template, fake: Fake, folder: Path) -> Server:
    template.static_for(folder)
    return Server(
        folder,
        template.copy(folder),
        SECRET_KEY=template.secret_key,
        CLOUDFLARE_ACCOUNT_ID="acc",
        CLOUDFLARE_API_TOKEN=TOKEN,
        CLOUDFLARE_API_BASE_URL=fake.base_url,
    )
