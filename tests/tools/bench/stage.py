"""The processes of a bench: the fake upstream, the relay, and servers, each with a fresh database."""

import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.databases import Template
from tests.support.server import Server

from .load import Job, Report, run
from .process import Process, serving
from .targets import ACCOUNT, TOKEN, Chat, Words, WorkersAI

SETTLING = 1.0  # seconds
WARM_UP = 50  # questions at once, so that pools of threads are full


class IncompleteError(Exception):
    """Streams broke off, or brought another text than they should."""


class Stage:
    """The started processes of a bench; all end with this context."""

    def __init__(self) -> None:
        self.cold_starts: list[float] = []  # seconds from a server's start to its first 200 of /readyz
        self.idle: list[float] = []  # MB of a server that was asked nothing yet
        self._texts: dict[int, str] = {}  # what the fake says, by the number of tokens
        self._stack = ExitStack()

    def __enter__(self) -> "Stage":
        with ExitStack() as stack:
            self.folder = Path(stack.enter_context(TemporaryDirectory(prefix="bench-")))
            (self.folder / "template").mkdir()
            self.template = Template(self.folder / "template", "sqlite")
            self.fake, fake_url = stack.enter_context(
                serving("-m", "tests.fake_cloudflare.server", "--port", "0")
            )
            self.relay, relay_url = stack.enter_context(serving("-m", "tests.tools.bench.relay", fake_url))
            self.direct, self.relayed = WorkersAI(fake_url), WorkersAI(relay_url)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextmanager
    def server(self, **env: str) -> Iterator[tuple[Server, Process, Chat]]:
        """A server that was just started, and has answered some questions."""
        server = self.new_server(self.template, **env)
        try:
            started = time.monotonic()
            server.start()
            self.cold_starts.append(time.monotonic() - started)
            assert server.process
            process = Process(server.process.pid)
            time.sleep(SETTLING)
            self.idle.append(process.memory())
            self.complete(Job(Chat(server.url), Words(2), WARM_UP))
            yield server, process, Chat(server.url)
        finally:
            server.end()

    def new_server(self, template: Template, *, arguments: tuple[str, ...] = (), **env: str) -> Server:
        """Return a server that is not started yet."""
        folder = self.folder / uuid.uuid4().hex
        folder.mkdir()
        template.static_for(folder)
        return Server(
            folder,
            template.copy(folder),
            afresh=True,
            arguments=arguments,
            SECRET_KEY=template.secret_key,
            CLOUDFLARE_ACCOUNT_ID=ACCOUNT,
            CLOUDFLARE_API_TOKEN=TOKEN,
            CLOUDFLARE_API_BASE_URL=f"{self.direct.url}/client/v4",
            REQUESTS_PER_MINUTE="1000000",  # what Cloudflare would not take is what is measured here
            **env,
        )

    def complete(self, job: Job) -> Report:
        """Run a job whose every stream must bring the whole text."""
        report = run(job)
        self.demand_whole(job, report)
        return report

    def demand_whole(self, job: Job, report: Report) -> None:
        """Raises IncompleteError: a figure of broken streams would be none."""
        if failed := self.errors(job, report):
            raise IncompleteError(f"{failed} of {job.streams} streams from {job.target.url} were not whole")

    def errors(self, job: Job, report: Report) -> int:
        """Streams of the crowd that did not end with `[DONE]` and the very text that the fake says."""
        assert isinstance(job.question, Words)
        text = self._text(job.question.tokens)
        return sum(not stream.complete or stream.text != text for stream in report.crowd)

    def _text(self, tokens: int) -> str:
        if tokens not in self._texts:
            transcript = run(Job(self.direct, Words(tokens), 1)).crowd[0]
            if not (transcript.complete and transcript.text):
                raise IncompleteError(f"the fake upstream does not answer: {transcript}")
            self._texts[tokens] = transcript.text
        return self._texts[tokens]
