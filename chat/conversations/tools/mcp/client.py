"""One request to a tool server, by the official SDK. To be imported with the first one.

A server is not trusted: what it sends is limited in size and time, it may ask for nothing (no sampling, no
roots, no elicitation), sets no cookies, leads nowhere else, and is told nothing but the call.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import mcp_types as types
from django.conf import settings
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from chat.conversations.tools import service
from chat.limits import MEBIBYTE

from .servers import headers_of

MAX_PAGES = 10
MAX_TOOLS = 100
MAX_RESPONSE_BYTES = MEBIBYTE
MAX_REPLIES = 20  # to what a server asks during one connection, such as whether anybody is there
CONNECT_SECONDS = 5.0
GOODBYE_SECONDS = 1.0  # for the end of a session, which nobody waits for
OURSELVES = types.Implementation(name="chat", version="0.1.0")

# They log what was sent and what came.
for _name in ("mcp", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


class ServerFailed(Exception):
    """The server could not be reached, refused, or sent what is no answer.

    `said` is its own message, `broken` where its answer breaks the protocol; "" if that is not known.
    """

    def __init__(self, said: str = "", broken: str = "") -> None:
        super().__init__(said)
        self.said, self.broken = said, broken


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool as the server lists it. `schema` is as it came."""

    name: str
    description: str
    schema: object
    read_only: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a call, as text."""

    text: str
    is_error: bool


async def list_tools(url: str, headers: str) -> list[Listed]:
    """Return the tools, at most MAX_TOOLS. Raises ServerFailed and HeaderProblem; limit the time."""
    found: list[Listed] = []
    async with _connected(url, headers) as client:
        cursor: str | None = None
        for _page in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += [_listed(tool) for tool in page.tools]
            cursor = page.next_cursor
            if not cursor or len(found) >= MAX_TOOLS:
                break
    return found[:MAX_TOOLS]


def _listed(tool: types.Tool) -> Listed:
    read_only = bool(tool.annotations and tool.annotations.read_only_hint)
    return Listed(tool.name, tool.description or "", tool.input_schema, read_only)


async def call(url: str, headers: str, tool: str, arguments: Mapping[str, Any]) -> Answer:
    """Call a tool. Raises ServerFailed and HeaderProblem; limit the time."""
    params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
    request = types.CallToolRequest(params=params)
    async with _connected(url, headers) as client:
        # Not `client.call_tool`: it lists the tools with each call, checks results by the server's own
        # regular expressions, which may take for ever, and answers the server's questions.
        try:
            result = await client.session.send_request(request, types.CallToolResult)
        except MCPError as error:
            if error.code != types.HEADER_MISMATCH:
                raise
            await client.list_tools()  # from which the session learns the headers that the tool wants
            result = await client.session.send_request(request, types.CallToolResult)
    return Answer(_text(result), result.is_error)


def _text(result: types.CallToolResult) -> str:
    """Return the texts of a result; what is none is named."""
    parts = [_part(each) for each in result.content]
    if not parts and result.structured_content is not None:
        parts.append(json.dumps(result.structured_content, ensure_ascii=False))
    return "\n\n".join(parts)[: settings.TOOL_MAX_RESULT_KB * 1_000]


def _part(content: Any) -> str:
    match content:
        case types.TextContent():
            return content.text
        case types.ResourceLink():
            return f"[{content.name}: {content.uri}]"
        case types.EmbeddedResource(resource=types.TextResourceContents() as resource):
            return f"[{resource.uri}]\n{resource.text}"
        case types.EmbeddedResource():
            return f"[{content.resource.uri}]"
    return f"[{content.type}]"


@asynccontextmanager
async def _connected(url: str, headers: str) -> AsyncIterator[Client]:
    """Connect, and close all when the block ends or is cancelled. Raises ServerFailed and HeaderProblem."""
    given = headers_of(headers)
    tls = await asyncio.to_thread(service.tls)
    seconds = httpx2.Timeout(None, connect=CONNECT_SECONDS)  # the caller limits the whole
    try:
        async with (
            httpx2.AsyncClient(
                transport=_Bounded(httpx2.AsyncHTTPTransport(verify=tls, trust_env=False)),
                headers={"User-Agent": "chat", "Accept-Encoding": "identity", **given},
                timeout=seconds,
                trust_env=False,
                max_redirects=0,
            ) as http,
            Client(
                streamable_http_client(url, http_client=http, max_sse_event_size=MAX_RESPONSE_BYTES),
                client_info=OURSELVES,
                cache=None,
            ) as client,
        ):
            yield client
    except Exception as error:  # or a group of them; those of the SDK quote what came
        raise _failure(error) from None


def _failure(error: BaseException) -> ServerFailed:
    """Return what the error says, or the first of its group that says something."""
    if isinstance(error, MCPError):
        return ServerFailed(error.message)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return ServerFailed(broken=f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    found = map(_failure, getattr(error, "exceptions", ()))
    return next((each for each in found if each.said or each.broken), ServerFailed())


class _Bounded(httpx2.AsyncBaseTransport):
    """Limits the size of each response, and leaves out what this site does not need."""

    def __init__(self, inner: httpx2.AsyncHTTPTransport) -> None:
        self._inner = inner
        self._replies = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET" and "last-event-id" not in request.headers:
            return httpx2.Response(405)  # what a server says by itself, nobody hears
        if request.method == "DELETE":
            return await self._goodbye(request)
        if request.method == "POST" and "method" not in json.loads(request.content):
            self._replies += 1
            if self._replies > MAX_REPLIES:  # each waits in a task of its own, also once the call has ended
                raise httpx2.ReadError("The server asks too much.", request=request)
        response = await self._inner.handle_async_request(request)
        response.headers.pop("set-cookie", None)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Counted(response.stream)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.stream.aclose()
            raise httpx2.DecodingError("A packed response has no limit.", request=request)
        return response

    async def _goodbye(self, request: httpx2.Request) -> httpx2.Response:
        """End a session. The body of the answer is not read: it may come a byte a second, for ever."""
        async with asyncio.timeout(GOODBYE_SECONDS):
            response = await self._inner.handle_async_request(request)
            await response.aclose()
        return httpx2.Response(response.status_code)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._inner:
            size += len(piece)
            if size > MAX_RESPONSE_BYTES:
                raise httpx2.ReadError("The response is too long.")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
