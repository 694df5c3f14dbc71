"""Every page and state that is audited, on real servers with the fake upstream behind them."""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.e2e.sample_texts import everyday
from tests.e2e.seed import talk
from tests.e2e.sessions import set_up_path
from tests.fake_cloudflare.server import Fake
from tests.support.databases import Template
from tests.support.people import SESSIONS
from tests.support.server import Server, Servers

ADMIN = "/admin/chat/conversation/"
# Of the markup and the scripts of Django's own lists: the label of the search box is a picture, the form
# around the rows has no button where no actions are offered, cells have no scope, and a script hears the
# page's end.
OF_DJANGO = (
    "label-title-only",
    "WCAG2AA.Principle3.Guideline3_2.3_2_2.H32.2",
    "WCAG2AA.Principle1.Guideline1_3.1_3_1.H63.1",
    "deprecations",
)


@dataclass(frozen=True, slots=True)
class Look:
    """A page as one person sees it; "" is a visitor."""

    name: str
    url: str
    person: str = ""
    accepted: tuple[str, ...] = ()  # findings that are not ours to mend

    @property
    def headers(self) -> dict[str, str]:
        return {"Cookie": f"sessionid={SESSIONS[self.person]}"} if self.person else {}


@dataclass(frozen=True, slots=True)
class Site:
    """A server in use, one that was just made, and the address of a long conversation in the first."""

    server: Server
    fresh: Server
    short: str
    long: str

    def looks(self) -> Iterator[Look]:
        url = self.server.url
        yield Look("login", f"{url}/accounts/login/")
        yield Look("set-up", f"{self.fresh.url}{set_up_path(self.fresh)}")
        yield Look("empty chat", f"{url}/", "alice")
        yield Look("chat, 20 messages", f"{url}{self.short}", "alice")
        yield Look("conversations", f"{url}/conversations/", "alice")
        yield Look("password", f"{url}/accounts/password/", "alice")
        yield Look("readings", f"{url}/readings/", "alice")
        # The browser notes the status itself as an error.
        yield Look("not found", f"{url}/c/{uuid.uuid4()}/", "alice", ("errors-in-console",))
        yield Look("admin, list", f"{url}{ADMIN}", "erin", OF_DJANGO)
        yield Look("admin, transcript", f"{url}{ADMIN}{self.short.split('/')[2]}/change/", "erin")


@contextmanager
def site() -> Iterator[Site]:
    """Start both servers, which end with the context."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="audit-")))
        for name in ("template", "used", "fresh"):
            (folder / name).mkdir()
        template, fake = Template(folder / "template", "sqlite"), Fake()
        stack.callback(fake.close)
        servers = [_servers(template, fake, folder / name) for name in ("used", "fresh")]
        for each in servers:
            stack.callback(each.end)
        used, fresh = (each.start() for each in servers)
        yield Site(used, fresh, talk(used, "alice", everyday(20)), talk(used, "alice", everyday(200)))


def _servers(template: Template, fake: Fake, folder: Path) -> Servers:
    database = template.copy(folder)
    if folder.name == "fresh":
        for table in ("django_session", "chat_identifier", "chat_user"):
            database.rows(f"DELETE FROM {table}")
    return Servers(template, database, fake, folder)
