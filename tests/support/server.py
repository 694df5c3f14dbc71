"""The real server in a process of its own, and people who talk to it over HTTP."""

import atexit
import http.client
import json
import os
import signal
import socket
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import httpx

from chat.wire import sse
from tests.fake_cloudflare.server import Fake
from tests.rendering.page import patched
from tests.support import forkserver
from tests.support.databases import Database, Template, clean_environment
from tests.support.people import CSRF, SESSIONS

READY = 180.0  # seconds; these machines are busy
PATIENCE = 60.0  # seconds that a response, or the end of a server, is waited for
LONGEST_STREAM = 120.0  # seconds; pings keep a stream alive that brings nothing


_held: dict[int, socket.socket] = {}


def free_port() -> int:
    """Return a port that no other process gets while this one lives; nothing listens there yet.

    Otherwise a test in another process might get it before the server listens, or while that restarts. Two
    sockets share a port on Linux where both say that it may be reused, as Twisted's do, and one listens.
    """
    probe = socket.socket()
    if sys.platform == "linux":
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
    if sys.platform == "linux":
        _held[port] = probe
    else:
        probe.close()
    return port


def give_back(port: int) -> None:
    if probe := _held.pop(port, None):
        probe.close()


@atexit.register
def _give_all_back() -> None:
    for port in list(_held):
        give_back(port)


class Server:
    """`manage.py serve` with a data folder and a database of its own; stays the same over restarts."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        *,
        afresh: bool = False,
        arguments: tuple[str, ...] = (),
        **env: str,
    ) -> None:
        self.folder = folder
        self._afresh, self._arguments = afresh, arguments
        self.database = database
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.env = clean_environment(
            DATA_DIR=str(folder),
            PORT=str(self.port),
            DATABASE_URL=database.url,
            **{"SHARING": "expiring", **env},
        )
        self.log = folder / f"server-{self.port}.log"
        self.process: BaseProcess | None = None
        self._people: list[Person] = []

    def start(self) -> "Server":
        self.process = forkserver.serve(self.env, self.log, afresh=self._afresh, arguments=self._arguments)
        deadline = time.monotonic() + READY
        while time.monotonic() < deadline and self.process.exitcode is None:
            if self._is_ready():
                return self
            time.sleep(0.03)
        raise AssertionError(f"the server did not start:\n{self.log.read_text()}")

    def _is_ready(self) -> bool:
        """Return True if /readyz says so. Not with httpx: a client costs as much as a server's start."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=READY)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def terminate(self, timeout: float = PATIENCE) -> int:
        """SIGTERM; returns the exit code."""
        self.signal(signal.SIGTERM)
        return self.wait(timeout)

    def signal(self, number: int) -> None:
        assert self.process
        assert self.process.pid
        os.kill(self.process.pid, number)

    def wait(self, timeout: float = PATIENCE) -> int:
        """Return the exit code, once it has ended."""
        assert self.process
        self.process.join(timeout)
        assert self.process.exitcode is not None, "the server did not end"
        return self.process.exitcode

    def kill(self) -> None:
        """SIGKILL, as by a power cut."""
        assert self.process
        self.process.kill()
        self.process.join()

    def end(self) -> None:
        if self.process and self.process.exitcode is None:
            self.kill()
        for person in self._people:
            person.close()
        give_back(self.port)

    def person(self, name: str) -> "Person":
        """Return a person in a browser of their own, which is closed with the server."""
        self._people.append(Person(self.url, name))
        return self._people[-1]


class Servers:
    """Starts servers on one database, with the fake as their Cloudflare."""

    def __init__(self, template: Template, database: Database, fake: Fake, folder: Path) -> None:
        self._template, self._database, self._fake, self._folder = template, database, fake, folder
        self._made: list[Server] = []

    def start(self, **options: Any) -> Server:
        """One more process, with the options of `make`."""
        return self.make(**options).start()

    def make(
        self, *, apart: bool = False, afresh: bool = False, arguments: tuple[str, ...] = (), **env: str
    ) -> Server:
        """One more server, not started yet; with a data folder of its own where `apart` says so.

        `afresh` as in `forkserver.serve`; `arguments` of `manage.py serve`.
        """
        folder = self._folder / f"apart-{uuid.uuid4().hex}" if apart else self._folder
        folder.mkdir(exist_ok=True)
        if not (folder / "static").exists():
            self._template.static_for(folder)
        upstream = {
            "CLOUDFLARE_ACCOUNT_ID": "acc",
            "CLOUDFLARE_API_TOKEN": "fake-token",
            "CLOUDFLARE_API_BASE_URL": f"{self._fake.url}/client/v4",
            "AI_GATEWAY_BASE_URL": f"{self._fake.url}/v1",
        }
        key = self._template.secret_key
        self._made.append(
            Server(
                folder,
                self._database,
                afresh=afresh,
                arguments=arguments,
                SECRET_KEY=key,
                **{**upstream, **env},
            )
        )
        return self._made[-1]

    def end(self) -> None:
        for server in self._made:
            server.end()


class Person:
    """A person with a session in a browser; an unknown name is an anonymous visitor."""

    def __init__(self, url: str, name: str) -> None:
        cookies = {"csrftoken": CSRF}
        if name in SESSIONS:
            cookies["sessionid"] = SESSIONS[name]
        self.client = httpx.Client(
            base_url=url,
            cookies=cookies,
            headers={"X-CSRFToken": CSRF},
            timeout=httpx.Timeout(PATIENCE),
            verify=False,  # else each reads all certificates of the world, to speak plain http
        )

    def close(self) -> None:
        self.client.close()

    def call(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """Return a whole response, not compressed: Django pads what it compresses by a random length."""
        headers = {"Accept-Encoding": "identity"} | (headers or {})
        return self.client.request(method, path, json=body, headers=headers)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.client.get(path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> httpx.Response:
        """Return a whole response; `body` as JSON."""
        return self.client.post(path, json=body, **options)

    def upload(self, name: str, content: bytes) -> httpx.Response:
        """Add a file, as a page does; without a session the answer is JSON as well."""
        files, headers = {"file": (name, content)}, {"Accept": "application/json"}
        return self.client.post("/attachments/", files=files, headers=headers)

    def uploaded(self, name: str, content: bytes) -> dict[str, Any]:
        """Add a file. Return what the page is told of it."""
        response = self.upload(name, content)
        assert response.status_code == 201, response.text
        told: dict[str, Any] = response.json()
        return told

    @contextmanager
    def ask(self, content: str, path: str = "/c/", **fields: Any) -> Iterator["Stream"]:
        """A send and its open stream."""
        with self.start(path, content=content, **fields) as stream:
            yield stream

    @contextmanager
    def start(self, path: str, **fields: Any) -> Iterator["Stream"]:
        """Make any call that starts a run. Return its open stream."""
        body = {"client_key": str(uuid.uuid4()), **fields}
        with self.client.stream("POST", path, json=body) as response:
            yield Stream(response)

    @contextmanager
    def follow(self, run: str, position: str = "", *, page: bool = False) -> Iterator["Stream"]:
        """`page`: with the text rendered as HTML, too."""
        headers = {"Last-Event-ID": position} if position else {}
        path = f"/runs/{run}/stream/{'?html=1' if page else ''}"
        with self.client.stream("GET", path, headers=headers) as response:
            yield Stream(response)

    def asked(self, content: str, path: str = "/c/", **fields: Any) -> "Stream":
        """Send a message. Return its stream, which has been read to its end."""
        with self.ask(content, path, **fields) as stream:
            return stream.to_end()

    def started(self, path: str, **fields: Any) -> "Stream":
        with self.start(path, **fields) as stream:
            return stream.to_end()

    def followed(self, run: str, position: str = "", *, page: bool = False) -> "Stream":
        with self.follow(run, position, page=page) as stream:
            return stream.to_end()

    def stop(self, run: str) -> httpx.Response:
        return self.client.post(f"/runs/{run}/stop/")


class Stream:
    """An open event stream as a client sees it: its text so far, and the last position."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.status = response.status_code
        self.run = response.headers.get("X-Run-Id", "")
        self.conversation = response.headers.get("X-Conversation-Id", "")
        self.text = ""
        self.reasoning = ""
        self.blocks: list[str] = []  # of a page: the HTML so far
        self.position = ""
        self.meta: dict[str, Any] = {}
        self.done: dict[str, Any] | None = None
        self.finished = False  # [DONE] came
        self.names: list[str] = []
        self.problems: list[dict[str, Any]] = []
        self.steps: list[dict[str, Any]] = []  # each change of one
        self._events = self._read()
        self._deadline = time.monotonic() + LONGEST_STREAM

    def _read(self) -> Iterator[sse.Event]:
        decoder = sse.Decoder()
        for chunk in self.response.iter_raw():
            assert time.monotonic() < self._deadline, "the stream goes on and on"
            yield from decoder.feed(chunk)

    def next(self) -> sse.Event | None:
        """One event, taken into account; None at the end of the stream."""
        event = next(self._events, None)
        if event is None:
            return None
        self.names.append(event.event)
        if event.id:
            self.position = event.id
        if event.data == "[DONE]":
            self.finished = True
            return event
        payload = json.loads(event.data) if event.data else {}
        if event.event == "meta":
            self.meta = payload
        elif event.event == "reset":
            self.text = self.reasoning = ""
            self.blocks.clear()
        elif event.event == "done":
            self.done = payload
        elif event.event == "problem":
            self.problems.append(payload)
        elif event.event == "step":
            self.steps.append(payload["step"])
        self.text += payload.get("response", "")
        self.reasoning += payload.get("reasoning", "")
        self.blocks = patched(self.blocks, payload.get("html", []))
        return event

    def until(self, length: int) -> "Stream":
        """Read until that much text has come."""
        while len(self.text) < length and self.next():
            pass
        assert len(self.text) >= length, f"the stream ended after {self.text!r}"
        return self

    def to_end(self) -> "Stream":
        while self.next():
            pass
        return self
