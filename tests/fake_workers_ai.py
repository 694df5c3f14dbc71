"""A fake of Cloudflare Workers AI on loopback.

    python -m tests.fake_workers_ai --port 0        prints its address on the first line

    async with running() as fake: …                 in the event loop of an async test
    with Fake() as fake: …                          in a thread, for any test

The base URL for a client is `fake.base_url`, the token `fake-token`. A line `fake: <scenario> key=value …` in
the last user message selects what a run does; the scenarios stand in `fake_scenarios.py`. Without one the
fake repeats the question. Every call is recorded: `fake.calls`, or `GET /calls` and `DELETE /calls`.
"""

import argparse
import asyncio
import json
import re
import threading
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import unquote

import tests.fake_says
import tests.fake_scenarios  # noqa: F401 (both fill the register that `play` looks into)
from tests.fake_errors import error
from tests.fake_http import Connection, Request
from tests.fake_run import Run, WrongScenario, play

TOKEN = "fake-token"
ACCOUNT_TOKEN = "fake-account-token"  # owned by the account: only the account's own address verifies it
_RUN = re.compile(r"/client/v4/accounts/[^/]+/ai/run/(.+)")
_VERIFY = re.compile(r"/client/v4/(user|accounts/[^/]+)/tokens/verify")
_SEARCH = re.compile(r"/client/v4/accounts/[^/]+/ai/models/search")
Play = Callable[[Run], Awaitable[None]]
_MODELS = [
    ("@cf/zai-org/glm-4.7-flash", "131072"),
    ("@cf/meta/llama-3.3-70b-instruct-fp8-fast", "24000"),
    ("@cf/google/gemma-4-26b-a4b-it", "256000"),
]


class WorkersAI:
    """The server; lives in one event loop. `play` answers the runs."""

    def __init__(self, play: Play = play) -> None:
        self._play = play
        self.calls: list[dict[str, Any]] = []
        self.port = 0
        self._failures: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.url}/client/v4"

    def clear(self) -> None:
        self.calls.clear()
        self._failures.clear()

    async def start(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, backlog=2048)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        connection = Connection(reader, writer)
        try:
            while request := await connection.request():
                await self._answer(connection, request)
                if not (connection.ended and request.keep_alive):
                    break
        except ConnectionError:
            return  # the client is gone, and its call is recorded
        except asyncio.CancelledError:
            return  # `stop`; raised further it would be reported as an error of the server
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, connection: Connection, request: Request) -> None:
        if request.target == "/calls":
            self._show_calls(connection, request)
            return
        call = self._record(request, connection.peer)
        work = asyncio.ensure_future(self._route(connection, request, call))
        gone = asyncio.ensure_future(connection.gone())
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            call["closed_by_client"] = not connection.ended and (gone.done() or _lost(work))
        finally:
            call["ended"] = time.time()
            work.cancel()
            gone.cancel()
            with suppress(asyncio.CancelledError):
                await gone
            with suppress(asyncio.CancelledError, ConnectionError):
                await work

    def _record(self, request: Request, peer: str) -> dict[str, Any]:
        body: object = request.body.decode("utf-8", "replace")
        with suppress(ValueError):
            body = json.loads(request.body)
        call = {
            "method": request.method,
            "path": request.target,
            "peer": peer,
            "headers": request.headers,
            "body": body,
            "started": time.time(),
            "closed_by_client": False,
            "ended": None,
        }
        self.calls.append(call)
        return call

    def _show_calls(self, connection: Connection, request: Request) -> None:
        if request.method == "DELETE":
            self.clear()
        connection.answer(200, self.calls)

    async def _route(self, connection: Connection, request: Request, call: dict[str, Any]) -> None:
        path = unquote(request.target.partition("?")[0])
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        known = {TOKEN, ACCOUNT_TOKEN}
        if verify := _VERIFY.fullmatch(path):
            known = {TOKEN} if verify[1] == "user" else known
        if token not in known:
            connection.answer(*error(10000))
        elif verify:
            connection.answer(200, _envelope({"id": "ed17574386854bf78a67040be0a770b0", "status": "active"}))
        elif _SEARCH.fullmatch(path):
            connection.answer(200, _model_page())
        elif request.method == "POST" and _RUN.fullmatch(path) and isinstance(call["body"], dict):
            await self._run(connection, call)
        else:
            connection.answer(*error(7003))

    async def _run(self, connection: Connection, call: dict[str, Any]) -> None:
        headers = [("cf-ray", f"{uuid.uuid4().hex[:16]}-FRA")]
        if "cf-aig-gateway-id" in call["headers"]:
            headers += [("cf-aig-log-id", str(uuid.uuid4())), ("cf-aig-request-id", str(uuid.uuid4()))]
        try:
            await self._play(Run(connection, call["body"], headers, self.port, self._failures))
        except WrongScenario as wrong:
            connection.answer(400, {"errors": [{"code": 0, "message": str(wrong)}], "success": False})


def _lost(work: asyncio.Future[None]) -> bool:
    return work.done() and isinstance(work.exception(), ConnectionError)


def _envelope(result: object, **more: object) -> dict[str, object]:
    return {"result": result, "success": True, "errors": [], "messages": [], **more}


def _model_page() -> dict[str, object]:
    """Cloudflare's shape: the model's id is in `name`, and nearly every value is a string."""
    task = {"id": "c329a1f9-323d-4e91-b2aa-582dd4188d34", "name": "Text Generation"}
    models = [
        {
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
            "source": 1,
            "name": name,
            "task": task,
            "properties": [{"property_id": "context_window", "value": window}],
        }
        for name, window in _MODELS
    ]
    counts = {"page": 1, "per_page": 50, "count": len(models), "total_count": len(models), "total_pages": 1}
    return _envelope(models, result_info=counts)


@asynccontextmanager
async def running(port: int = 0) -> AsyncIterator[WorkersAI]:
    fake = WorkersAI()
    await fake.start(port)
    try:
        yield fake
    finally:
        await fake.stop()


class Fake:
    """The server in a thread of its own, for tests that have no event loop or block it."""

    def __init__(self, play: Play = play) -> None:
        self._server = WorkersAI(play)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fake-workers-ai", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._server.start(), self._loop).result(5)
        self.url = self._server.url
        self.base_url = self._server.base_url

    @property
    def calls(self) -> list[dict[str, Any]]:
        return list(self._server.calls)

    def clear(self) -> None:
        self._loop.call_soon_threadsafe(self._server.clear)

    def wait_for(self, condition: Callable[[list[dict[str, Any]]], object], timeout: float = 5.0) -> None:
        """Until `condition` of the calls is true. Raises TimeoutError after `timeout` seconds."""
        give_up = time.monotonic() + timeout
        while not condition(self.calls):
            if time.monotonic() > give_up:
                raise TimeoutError(f"not so within {timeout} s; the calls are {self.calls}")
            time.sleep(0.005)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._server.stop(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    def __enter__(self) -> "Fake":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def _serve_forever(port: int) -> None:
    async with running(port) as fake:
        print(fake.url, flush=True)
        await asyncio.get_running_loop().create_future()


def main() -> None:
    parser = argparse.ArgumentParser(description="A fake of Cloudflare Workers AI on loopback.")
    parser.add_argument("--port", type=int, default=8787, help="0 takes a free one")
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve_forever(parser.parse_args().port))


if __name__ == "__main__":
    main()
