"""The processes of a round: the fake upstream, the database and Redis behind links, and the web processes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from tests.fake_cloudflare.server import TOKEN, WorkersAI
from tests.support.databases import REDIS, Template, clean_environment
from tests.support.server import free_port, give_back

from .faults import Kind
from .hosts import Hosts
from .links import Link, Streams
from .processes import FAKETIME, Clock, WebProcess
from .storage import Disk, Storage, postgres_address

DRAIN_SECONDS = 5
PROCESSES = {"sqlite": 2, "postgres": 3}
HOSTS = 3
PROCESSES_ON_A_HOST = 2


class Stage:
    """The started processes, made with `staged`, which ends them."""

    def __init__(self, kind: str, folder: Path, template: Template | None, hosts: Hosts | None) -> None:
        self.kind = kind
        self.hosts = hosts
        self.folder = folder
        self.fakes: list[WorkersAI] = []  # one for each process, so that it is known who asks
        self.processes: list[WebProcess] = []
        self.clocks: list[Clock] = []
        self.database_links: list[Link] = []
        self.redis_links: list[Link] = []
        self._model_links: list[Link] = []
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
        if self.hosts is None:
            absent.add(Kind.HOST)
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
        count = self.hosts.count * PROCESSES_ON_A_HOST if self.hosts else PROCESSES[self.kind]
        for number in range(count):
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
        host = number // PROCESSES_ON_A_HOST
        address = self.hosts.address_of(host) if self.hosts else "127.0.0.1"
        env = {**self._env(number, address, port), **await self._links(stack)}
        if self.hosts:
            env["CLOUDFLARE_API_BASE_URL"] = await self._model_link(stack, self.hosts, host, fake)
        if Kind.CLOCK not in self.skipped:
            share = self.clocks[:1] if self.shared else []
            self.clocks.append(share[0] if share else Clock(self.folder / f"clock-{number}"))
            env |= self.clocks[-1].env
        prefix = self.hosts.command(host) if self.hosts else []
        log = self.folder / f"process-{number}.log"
        process = WebProcess(number, (address, port), env, log, prefix)
        self.processes.append(process)
        stack.callback(process.end)
        process.launch()

    def model_links_of(self, host: int) -> list[Link]:
        """The links from the processes of a host to the model."""
        first = host * PROCESSES_ON_A_HOST
        return self._model_links[first : first + PROCESSES_ON_A_HOST]

    def _env(self, number: int, address: str, port: int) -> dict[str, str]:
        assert self.template
        if self.hosts:
            home = self.folder / f"web-{number // PROCESSES_ON_A_HOST}"
        else:
            home = self.folder / ("web" if self.shared or number < 2 else "web-elsewhere")
        if not home.exists():
            home.mkdir()
            self.template.static_for(home)
        return clean_environment(
            DATA_DIR=str(home),
            HOST=address,
            PORT=str(port),
            ALLOWED_HOSTS="127.0.0.1,localhost",
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
            link = await _linked(stack, host, port, self._shared_address)
            self.database_links.append(link)
            env["DATABASE_URL"] = self.storage.url_through(link.address, link.port)
        if Kind.REDIS not in self.skipped:
            address = urlsplit(REDIS)
            name = address.hostname or "127.0.0.1"
            link = await _linked(stack, name, address.port or 6379, self._shared_address)
            self.redis_links.append(link)
            env["REDIS_URL"] = f"redis://{link.address}:{link.port}{address.path}"
        return env

    @property
    def _shared_address(self) -> str:
        """The address at which the processes reach what they share."""
        return self.hosts.address if self.hosts else "127.0.0.1"

    async def _model_link(self, stack: AsyncExitStack, hosts: Hosts, host: int, fake: WorkersAI) -> str:
        """Link a process to its fake, at an address of its own host: without TLS no other is allowed."""
        link = Link(
            lambda: asyncio.open_connection("127.0.0.1", fake.port),
            listener=lambda port: hosts.listener(host, port),
        )
        await link.start()
        stack.push_async_callback(link.stop)
        self._model_links.append(link)
        return fake.base_url.replace(f":{fake.port}", f":{link.port}")

    async def _has_redis(self) -> bool:
        address = urlsplit(REDIS)
        try:
            _, writer = await asyncio.open_connection(address.hostname, address.port or 6379)
        except OSError:
            return False
        writer.close()
        return True


async def _linked(stack: AsyncExitStack, host: str, port: int, address: str) -> Link:
    async def connect() -> Streams:
        if host.startswith("/"):
            return await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        return await asyncio.open_connection(host, port)

    link = Link(connect, address=address)
    await link.start()
    stack.push_async_callback(link.stop)
    return link


@asynccontextmanager
async def staged(kind: str, template: Template | None = None, *, fleet: bool = False) -> AsyncIterator[Stage]:
    """`kind`: sqlite or postgres. Without a template of such a database one is made.

    `fleet`: the processes run on hosts with networks of their own. Raises `OSError` where there can be none.
    """
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix=f"chaos-{kind}-")))
        hosts = stack.enter_context(Hosts.made(HOSTS)) if fleet else None
        if fleet and hosts is None:
            raise OSError("a fleet needs Linux, root and iproute2, for networks of its own")
        stage = Stage(kind, folder, template, hosts)
        await stage.open(stack)
        yield stage
