"""A fake of Cloudflare's API on loopback: every frame, every error, every way of ending.

What a run does is chosen by a line `fake: <scenario> key=value …` in its last user message; see
`tests/fake_scenarios.py`. All calls are kept: as `Fake.calls` in a test, at `GET /calls` from elsewhere.
Runs in a thread of its own (`Fake`), or as `python -m tests.fake_workers_ai --port 0`.
"""

import argparse
import asyncio
import json
import threading
import time
from typing import Any
from urllib.parse import unquote

from tests.fake_scenarios import SCENARIOS, Exchange

TOKEN = "fake-token"
UNAUTHORISED = {
    "result": None,
    "success": False,
    "errors": [{"code": 10000, "message": "Authentication error"}],
    "messages": [],
}


class FakeWorkersAI:
    """The server; `calls` are dicts with path, headers, body, started, ended, closed_by_client."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self._failures: dict[str, int] = {}

    async def start(self, port: int = 0) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, backlog=2048)
        return "http://127.0.0.1:{}".format(self._server.sockets[0].getsockname()[1])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request; False when the connection is over."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {
            name.lower(): value.strip() for name, value in (line.split(":", 1) for line in head[1:] if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        exchange = Exchange(reader, writer)
        if path == "/calls":
            if method == "DELETE":
                self.calls.clear()
            await exchange.json(200, self.calls)
            return True
        call = {
            "method": method,
            "path": unquote(path),
            "headers": headers,
            "body": json.loads(body) if body else None,
            "started": time.time(),
            "ended": None,
            "closed_by_client": False,
        }
        self.calls.append(call)
        try:
            await exchange.watching_client(self._route(exchange, call))
        finally:
            call["closed_by_client"] = exchange.client_left
            call["ended"] = time.time()
        return not exchange.broken

    async def _route(self, exchange: Exchange, call: dict[str, Any]) -> None:
        path = call["path"]
        if call["headers"].get("authorization") != f"Bearer {TOKEN}":
            await exchange.json(401, UNAUTHORISED)
        elif path.endswith("/tokens/verify"):
            await exchange.json(200, {"success": True, "result": {"id": "1", "status": "active"}})
        elif path.endswith("/ai/models/search"):
            result = [{"name": "@cf/zai-org/glm-4.7-flash", "task": {"name": "Text Generation"}}]
            await exchange.json(200, {"success": True, "result": result})
        elif "/ai/run/" in path and call["method"] == "POST":
            await self._run(exchange, call)
        else:
            error = {"code": 7003, "message": f"Could not route to {path}"}
            await exchange.json(404, {"result": None, "success": False, "errors": [error]})

    async def _run(self, exchange: Exchange, call: dict[str, Any]) -> None:
        said = next(m["content"] for m in reversed(call["body"]["messages"]) if m["role"] == "user")
        name, options = _scenario(said)
        exchange.said, exchange.options = said, options
        exchange.max_tokens = call["body"].get("max_tokens") or 256
        if name == "flaky":
            key = options.get("key", "")
            self._failures[key] = self._failures.get(key, 0) + 1
            name = "status" if self._failures[key] <= int(options.get("fails", 1)) else "words"
        await SCENARIOS[name](exchange)


def _scenario(said: str) -> tuple[str, dict[str, str]]:
    for line in reversed(said.splitlines()):
        if "fake:" in line:
            name, *options = line.split("fake:", 1)[1].split()
            return name, dict(option.split("=", 1) for option in options if "=" in option)
    return "words", {}


class Fake:
    """The fake in a thread, for tests that are not async themselves."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._fake = FakeWorkersAI()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.url = asyncio.run_coroutine_threadsafe(self._fake.start(), self._loop).result(5)

    @property
    def calls(self) -> list[dict[str, Any]]:
        return self._fake.calls

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The calls that asked a model."""
        return [call for call in self.calls if "/ai/run/" in call["path"]]

    def close(self) -> None:
        async def end() -> None:
            self._fake._server.close()
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()


async def _main(port: int) -> None:
    print(await FakeWorkersAI().start(port), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    import uvloop

    uvloop.run(_main(parser.parse_args().port))
