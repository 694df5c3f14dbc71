"""A fake of Cloudflare Workers AI on loopback.

    python -m tests.fake_cloudflare.server --port 0        prints its address on the first line

    async with running() as fake: …                 in the event loop of an async test
    with Fake() as fake: …                          in a thread, for any test

The base URL for a client is `fake.base_url`, the token `fake-token`. A line `fake: <scenario> key=value …` in
the last user message selects what a run does; the scenarios stand in `scenarios.py`. Without one the
fake repeats the question. `fake for <model>: …` holds for that model alone. Every call is recorded:
`fake.calls`, or `GET /calls` and `DELETE /calls`; those for lists of models in `fake.lists.calls`.
"""

import argparse
import asyncio
import json
import re
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import unquote

import tests.fake_cloudflare.scenarios
import tests.fake_cloudflare.text_scenarios
import tests.fake_cloudflare.tool_scenarios  # noqa: F401 - they fill the register that `play` looks into
from tests.fake_cloudflare import ai_search, browser_run, web_search
from tests.fake_cloudflare.conversion import SUPPORTED, conversion
from tests.fake_cloudflare.embeddings import MODELS as EMBEDDING_MODELS
from tests.fake_cloudflare.embeddings import embeddings
from tests.fake_cloudflare.errors import error
from tests.fake_cloudflare.http_server import Connection, Request
from tests.fake_cloudflare.models import Lists, envelope
from tests.fake_cloudflare.refusals import LARGEST_BODY, by_other_provider, refusal
from tests.fake_cloudflare.run import Run, WrongScenario, play

TOKEN = "fake-token"
ENDPOINT_KEY = "fake-endpoint-key"  # of the server of OpenAI's API that the same fake is, below /v1
ACCOUNT_TOKEN = "fake-account-token"  # owned by the account: only the account's own address verifies it
NO_WORKERS_AI = "fake-token-without-workers-ai"
NO_GATEWAY = "no-such-gateway"
NO_THUMBS = "no-thumbs"  # a gateway that keeps no log
NO_ROUTE = "no-such-route"
# The model that a route of the gateway chose, as its headers name it.
ROUTED = {
    "dynamic": [("cf-aig-model", "gpt-5-mini"), ("cf-aig-provider", "openai")],
    "cloudflare": [("cf-aig-routed-model", "@cf/zai-org/glm-4.7-flash"), ("cf-aig-provider", "workers-ai")],
}
ENDPOINT_MODELS = ["small-1", "big-1"]
ACCOUNTS = {"acc", "acct"}
# The addresses and bodies that Cloudflare refuses; see also `refusals.py`.
_ACCOUNT = re.compile(r"/client/v4/accounts/([^/]+)/.*|/v1/([^/]+)/[^/]+/(?:compat|workers-ai)/.*")
_RUN = re.compile(r"/client/v4/accounts/[^/]+/ai/run/(.+)")
_NAMED = re.compile(r"/client/v4/accounts/[^/]+/ai/run")
_CHAT = re.compile(r"/client/v4/accounts/[^/]+/ai/v1/chat/completions")
_MODEL_PATHS = (_RUN, _CHAT, _NAMED, ai_search.PATH)
_COMPAT = re.compile(r"/v1/[^/]+/([^/]+)/compat/chat/completions")  # on the gateway's own host
_VERIFY = re.compile(r"/client/v4/(user|accounts/[^/]+)/tokens/verify")
_LISTS = re.compile(r"/client/v4/accounts/[^/]+/ai/(models/search|models/schema|finetunes)")
_CONVERSION = re.compile(r"/client/v4/accounts/[^/]+/ai/tomarkdown(/supported)?")
_GATEWAY = re.compile(r"/client/v4/accounts/[^/]+/ai-gateway/gateways/([^/]+)(?:/logs/([^/]+))?")
Play = Callable[[Run], Awaitable[None]]
PATIENCE = 60.0  # seconds; these machines are busy
ACCEPTING_STEPS = 5  # of the event loop, until a connection that was just accepted is known


class WorkersAI:
    """The server; lives in one event loop. `play` answers the runs."""

    def __init__(self, play: Play = play) -> None:
        self._play = play
        self.calls: list[dict[str, Any]] = []
        self.lists = Lists()
        self.port = 0
        self._failures: Counter[str] = Counter()
        self._gates: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._served: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.url}/client/v4"

    def clear(self) -> None:
        self.calls.clear()
        self._failures.clear()

    def go_on(self, key: str = "") -> None:
        self._gates[key].set()

    async def start(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", port, backlog=2048)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        for _ in range(ACCEPTING_STEPS):
            await asyncio.sleep(0)
        while self._served:
            served = dict(self._served)
            for task, writer in served.items():
                writer.transport.abort()
                task.cancel()
            await asyncio.gather(*served, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._served[task] = writer
        task.add_done_callback(self._served.pop)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer)
        try:
            while request := await connection.request():
                await self._respond(connection, request)
                if not (connection.ended and request.keep_alive):
                    break
        except ConnectionError:
            return  # the client is gone, and its call is recorded
        except asyncio.CancelledError:
            return  # `stop`; raised further it would be reported as an error of the server
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()  # until then the transport is open, and `stop` has to know it

    async def _respond(self, connection: Connection, request: Request) -> None:
        if request.target == "/calls":
            self._show_calls(connection, request)
            return
        call = self._record(request, connection.peer)
        if _LISTS.fullmatch(request.target.partition("?")[0]):
            # Servers ask for these by themselves; tests that count the calls of people count on nothing else.
            self.calls.remove(call)
            if "/models/schema" not in request.target:
                self.lists.calls.append(call)
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
        connection.respond(200, self.calls)

    async def _route(self, connection: Connection, request: Request, call: dict[str, Any]) -> None:
        path = unquote(request.target.partition("?")[0])
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if compat := _COMPAT.fullmatch(path):
            await self._compat(connection, compat[1], call)
            return
        if path.startswith("/v1/"):
            await self._endpoint(connection, path, token, call)
            return
        known = {TOKEN, ACCOUNT_TOKEN, NO_WORKERS_AI, ai_search.NO_PERMISSION, web_search.NO_PERMISSION}
        if verify := _VERIFY.fullmatch(path):
            known = known - {ACCOUNT_TOKEN} if verify[1] == "user" else known
        account = _ACCOUNT.fullmatch(path)
        if token not in known or not request.headers.get("authorization", "").startswith("Bearer "):
            connection.respond(*error(10000))
        elif account and account[1] not in ACCOUNTS:
            connection.respond(*error(7003))
        elif token == NO_WORKERS_AI and not verify:
            connection.respond(*error(10000, 403))
        elif verify:
            connection.respond(200, envelope({"id": "ed17574386854bf78a67040be0a770b0", "status": "active"}))
        else:
            await self._account_call(connection, request, path, call)

    async def _account_call(
        self, connection: Connection, request: Request, path: str, call: dict[str, Any]
    ) -> None:
        """A call of an account's API with a token that is valid."""
        token = request.headers["authorization"].removeprefix("Bearer ")
        if found := _LISTS.fullmatch(path):
            await self.lists.respond(connection, found[1], request.target)
        elif (found := _CONVERSION.fullmatch(path)) and request.method == ("GET" if found[1] else "POST"):
            connection.respond(*((200, envelope(SUPPORTED)) if found[1] else conversion(request)))
        elif web_search.PATH.fullmatch(path) and request.method == "POST":
            if "fake: slow" in str(call["body"]):
                await asyncio.sleep(PATIENCE)
            connection.respond(*web_search.web_search(token, call["body"]))
        elif browser_run.PATH.fullmatch(path) and request.method == "POST":
            if "fake-slow" in str(call["body"]):
                await asyncio.sleep(PATIENCE)
            connection.respond(*browser_run.content(token, call["body"]))
        elif (found := _GATEWAY.fullmatch(path)) and token == web_search.NO_PERMISSION:
            connection.respond(*error(10000, 403))
        elif found:
            self._gateway(connection, request.method, *found.groups())
        elif request.method == "POST" and any(each.fullmatch(path) for each in _MODEL_PATHS):
            await self._model_call(connection, request, path, call)
        else:
            connection.respond(*error(7003))

    async def _model_call(
        self, connection: Connection, request: Request, path: str, call: dict[str, Any]
    ) -> None:
        """A call of a model: what Cloudflare refuses of it is refused, the rest is played."""
        if found := ai_search.PATH.fullmatch(path):
            await self._ai_search(connection, *found.groups(), call)
            return
        if response := self._embeddings(path, call["body"]):
            connection.respond(*response)
            return
        refused = self._refusal(request, path, call)
        if refused is None:
            await self._run(connection, call)
        else:
            connection.respond(*refused, [("cf-ray", f"{uuid.uuid4().hex[:16]}-FRA")])

    def _embeddings(self, path: str, body: object) -> tuple[int, object] | None:
        found = _RUN.fullmatch(path)
        if found and found[1] in EMBEDDING_MODELS and isinstance(body, dict) and "text" in body:
            return embeddings(found[1], body)
        return None

    def _refusal(self, request: Request, path: str, call: dict[str, Any]) -> tuple[int, object] | None:
        body = call["body"]
        if len(request.body) > LARGEST_BODY:
            return error(3006)
        if not isinstance(body, dict):
            return error(3003)
        if request.headers.get("cf-aig-gateway-id") == NO_GATEWAY:
            return error(2001)
        if found := _RUN.fullmatch(path):
            return refusal(found[1], body, self.lists)
        model = body.get("model")
        if not isinstance(model, str):
            return error(5006, message="AiError: Bad input: Error: required properties at '/' are 'model'")
        if _NAMED.fullmatch(path):
            body = body.get("input")
            if not isinstance(body, dict):
                return error(
                    5006, message="AiError: Bad input: Error: required properties at '/' are 'input'"
                )
        if model.startswith("@"):
            return refusal(model, body, self.lists)
        return by_other_provider(model, self.lists)

    async def _ai_search(
        self, connection: Connection, namespace: str, name: str, what: str, call: dict[str, Any]
    ) -> None:
        token = call["headers"]["authorization"].removeprefix("Bearer ")
        refused = ai_search.refusal(namespace, name, what, token, call["body"])
        if refused is not None:
            connection.respond(*refused)
        elif what == "search":
            result = {"search_query": call["body"].get("query", ""), "chunks": ai_search.FOUND[name]}
            connection.respond(200, envelope(result))
        else:
            await self._run(connection, call, usual="ai_search", before=ai_search.before(name))

    async def _compat(self, connection: Connection, gateway: str, call: dict[str, Any]) -> None:
        """The gateway's own host: dynamic routes and the Auto Router, and models as `provider/model`.

        https://developers.cloudflare.com/ai-gateway/features/dynamic-routing/usage/
        """
        body, headers = call["body"], call["headers"]
        model = body.get("model") if isinstance(body, dict) else None
        if headers.get("cf-aig-authorization") != f"Bearer {TOKEN}" or "/acc" not in call["path"]:
            connection.respond(*error(2009))
        elif gateway == NO_GATEWAY:
            connection.respond(*error(2001))
        elif not isinstance(model, str) or "/" not in model or model == f"dynamic/{NO_ROUTE}":
            connection.respond(*error(2001, message="Invalid model or route"))
        else:
            await self._run(connection, call)

    def _gateway(self, connection: Connection, method: str, name: str, log: str | None) -> None:
        """A gateway as it is set up, and a thumb for an entry of its log."""
        if name == NO_GATEWAY:
            connection.respond(*error(2001, 404 if log is None else 0))
        elif log is not None and name == NO_THUMBS:
            connection.respond(*error(7003))
        elif method == ("GET" if log is None else "PATCH"):
            connection.respond(200, envelope({"id": log or name}))
        else:
            connection.respond(*error(7003))

    async def _endpoint(self, connection: Connection, path: str, token: str, call: dict[str, Any]) -> None:
        """A server of OpenAI's API, such as vLLM."""
        if token != ENDPOINT_KEY:
            wrong = {"message": f"Incorrect API key provided: {token}", "code": "invalid_api_key"}
            connection.respond(401, {"error": wrong})
        elif path == "/v1/models":
            connection.respond(200, {"object": "list", "data": [{"id": name} for name in ENDPOINT_MODELS]})
        elif path == "/v1/chat/completions" and isinstance(call["body"], dict):
            await self._run(connection, call)
        else:
            connection.respond(404, {"error": {"message": "Not found", "code": None}})

    async def _run(self, connection: Connection, call: dict[str, Any], **more: Any) -> None:
        headers = [("cf-ray", f"{uuid.uuid4().hex[:16]}-FRA")]
        path = unquote(call["path"].partition("?")[0])
        compat = _COMPAT.fullmatch(path)
        if compat:
            headers += ROUTED.get(call["body"]["model"].partition("/")[0], [])
        if compat or "cf-aig-gateway-id" in call["headers"]:
            headers += [("cf-aig-log-id", str(uuid.uuid4())), ("cf-aig-request-id", str(uuid.uuid4()))]
            skips = call["headers"].get("cf-aig-skip-cache") == "true"
            if "cf-aig-cache-ttl" in call["headers"] and not skips:
                headers += [("cf-aig-cache-status", "HIT" if self._has_cached(call) else "MISS")]
        try:
            body, found = call["body"], _RUN.fullmatch(path)
            model = found[1] if found else ""
            if _NAMED.fullmatch(path):
                model, body = body["model"], body["input"]
            run = Run(connection, body, headers, self.port, model, self._failures, self._gates, **more)
            await self._play(run)
        except WrongScenario as wrong:
            connection.respond(400, {"errors": [{"code": 0, "message": str(wrong)}], "success": False})

    def _has_cached(self, call: dict[str, Any]) -> bool:
        """Return True if the same request was sent before, to the same model."""
        same = [each for each in self.calls if (each["path"], each["body"]) == (call["path"], call["body"])]
        return len(same) > 1


def _lost(work: asyncio.Future[None]) -> bool:
    return work.done() and isinstance(work.exception(), ConnectionError)


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
        asyncio.run_coroutine_threadsafe(self._server.start(), self._loop).result(PATIENCE)
        self.url = self._server.url
        self.base_url = self._server.base_url

    @property
    def calls(self) -> list[dict[str, Any]]:
        return list(self._server.calls)

    @property
    def lists(self) -> Lists:
        """The models and finetunes that it has, to be changed by a test."""
        return self._server.lists

    def clear(self) -> None:
        self._loop.call_soon_threadsafe(self._server.clear)

    def go_on(self, key: str = "") -> None:
        """Release the runs that are `held` with this key."""
        self._loop.call_soon_threadsafe(self._server.go_on, key)

    def wait_for(
        self, condition: Callable[[list[dict[str, Any]]], object], timeout: float = PATIENCE
    ) -> None:
        """Wait until `condition` of the calls is true. Raises TimeoutError after `timeout` seconds."""
        give_up = time.monotonic() + timeout
        while not condition(self.calls):
            if time.monotonic() > give_up:
                raise TimeoutError(f"not so within {timeout} s; the calls are {self.calls}")
            time.sleep(0.005)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._server.stop(), self._loop).result(PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
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
