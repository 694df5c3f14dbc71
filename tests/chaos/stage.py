"""Who acts: the fake upstream, the database and Redis behind links, and the web processes."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from tests.fake_cloudflare.server import TOKEN, WorkersAI
from tests.support.databases import Template, clean_environment
from tests.support.server import free_port, give_back

from .faults import Kind
from .links import Link, Streams
from .processes import FAKETIME, Clock, WebProcess
from .storage import Disk, Storage, postgres_address

REDIS = os.environ.get("TEST_REDIS", "redis://127.0.0.1:6379/15")
DRAIN_SECONDS = 5
PROCESSES = {"sqlite": 2, "postgres": 3}


class Stage:
    """To be made with `staged`; everything started ends with it."""

    def __init__(self, kind: str, folder: Path, template: Template | None) -> None:
        self.kind = kind
        self.folder = folder
        self.fakes: list[WorkersAI] = []  # one for each process, so that it is known who asks
        self.processes: list[WebProcess] = []
        self.clocks: list[Clock] = []
        self.database_links: list[Link] = []
        self.redis_links: list[Link] = []
        self.storage: Storage
        self.template = template
        self.skipped: dict[Kind, str] = {}

    @property
    def shared(self) -> bool:
        """One file for all processes."""
        return self.kind == "sqlite"

    @property
    def kinds(self) -> list[Kind]:
        """The faults that can happen here."""
        absent = {Kind.DATABASE} if self.shared else {Kind.LOCK}
        return [kind for kind in Kind if kind not in absent and kind not in self.skipped]

    async def open(self, stack: AsyncExitStack) -> None:
        if self.template is None:
            (self.folder / "template").mkdir()
            self.template = await asyncio.to_thread(Template, self.folder / "template", self.kind)
            stack.callback(self.template.drop)
        disk = stack.enter_context(Disk.mounted(self.folder / "disk"))
        if disk is None:
            self.skipped[Kind.DISK] = "needs root, for a small file system of its own"
        if not FAKETIME.exists():
            self.skipped[Kind.CLOCK] = "needs libfaketime (Debian's package faketime)"
        self.storage = Storage(disk)
        stack.callback(self.storage.close)
        self.storage.make(self.template, self.folder)
        if not await self._has_redis():
            self.skipped[Kind.REDIS] = "needs Redis"
        for number in range(PROCESSES[self.kind]):
            await self._add(number, stack)
        ready = await asyncio.gather(*(process.ready() for process in self.processes))
        assert all(ready), f"the processes do not start: {self.processes[0].log.read_text()[-2000:]}"

    async def _add(self, number: int, stack: AsyncExitStack) -> None:
        port = free_port()
        stack.callback(give_back, port)
        fake = WorkersAI()
        await fake.start()
        stack.push_async_callback(fake.stop)
        self.fakes.append(fake)
        env = {**self._env(number, port), **await self._links(stack)}
        if Kind.CLOCK not in self.skipped:
            share = self.clocks[:1] if self.shared else []
            self.clocks.append(share[0] if share else Clock(self.folder / f"clock-{number}"))
            env |= self.clocks[-1].env
        process = WebProcess(number, port, env, self.folder / f"process-{number}.log")
        self.processes.append(process)
        stack.callback(process.end)
        process.launch()

    def _env(self, number: int, port: int) -> dict[str, str]:
        assert self.template
        home = self.folder / ("web" if self.shared or number < 2 else "web-elsewhere")
        if not home.exists():
            home.mkdir()
            self.template.static_for(home)
        return clean_environment(
            DATA_DIR=str(home),
            PORT=str(port),
            SECRET_KEY=self.template.secret_key,
            DATABASE_URL=self.storage.database.url,
            CLOUDFLARE_ACCOUNT_ID="acc",
            CLOUDFLARE_API_TOKEN=TOKEN,
            CLOUDFLARE_API_BASE_URL=self.fakes[number].base_url,
            REQUESTS_PER_MINUTE="1000000",
            DRAIN_SECONDS=str(DRAIN_SECONDS),
        )

    async def _links(self, stack: AsyncExitStack) -> dict[str, str]:
        env = {}
        if not self.shared:
            host, port = await asyncio.to_thread(postgres_address)
            link = await _linked(stack, host, port)
            self.database_links.append(link)
            env["DATABASE_URL"] = self.storage.url_through(link.port)
        if Kind.REDIS not in self.skipped:
            address = urlsplit(REDIS)
            link = await _linked(stack, address.hostname or "127.0.0.1", address.port or 6379)
            self.redis_links.append(link)
            env["REDIS_URL"] = f"redis://127.0.0.1:{link.port}{address.path}"
        return env

    async def _has_redis(self) -> bool:
        address = urlsplit(REDIS)
        try:
            _, writer = await asyncio.open_connection(address.hostname, address.port or 6379)
        except OSError:
            return False
        writer.close()
        return True


async def _linked(stack: AsyncExitStack, host: str, port: int) -> Link:
    async def connect() -> Streams:
        if host.startswith("/"):
            return await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        return await asyncio.open_connection(host, port)

    link = Link(connect)
    await link.start()
    stack.push_async_callback(link.stop)
    return link


@asynccontextmanager
async def staged(kind: str, template: Template | None = None) -> AsyncIterator[Stage]:
    """`kind`: sqlite or postgres. Without a template of such a database one is made."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix=f"chaos-{kind}-")))
        stage = Stage(kind, folder, template)
        await stage.open(stack)
        yield stage
