"""Servers that answer as the protocol wants, and without end."""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from chat.conversations.tools.mcp import client
from chat.conversations.tools.mcp.client import ServerFailed
from tests.mcp.hosts import Host, Play, Send, response

STARTED = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "notes", "version": "1"},
}
Reply = Callable[[int], Play]


def playing(host: Host, replies: dict[str, Reply]) -> Play:
    """Play a server of 2025 with a session: what answers a request is made from its id."""

    async def play(send: Send) -> None:
        asked = json.loads(host.seen[-1]["body"] or "{}")
        method = asked.get("method", host.seen[-1]["method"])
        if method == "initialize":
            begun = {"jsonrpc": "2.0", "id": asked["id"], "result": STARTED}
            await response(json.dumps(begun).encode(), mcp_session_id="s")(send)
        elif method == "server/discover":
            await response(b"{}", 404)(send)
        elif method in replies:
            await replies[method](asked.get("id", 0))(send)
        else:
            await response(b"", 202)(send)

    return play


def result(what: dict[str, Any]) -> Reply:
    return lambda number: response(json.dumps({"jsonrpc": "2.0", "id": number, "result": what}).encode())


async def test_a_list_without_end_is_read_until_it_is_enough(notes: Host) -> None:
    tools = [{"name": f"t{number}", "inputSchema": {"type": "object"}} for number in range(150)]
    notes.play = playing(notes, {"tools/list": result({"tools": tools, "nextCursor": "again"})})
    assert len(await client.list_tools(notes.url, "")) == client.MAX_TOOLS
    assert [json.loads(each["body"] or "{}").get("method") for each in notes.seen].count("tools/list") == 1


async def test_an_empty_list_without_end_is_given_up(notes: Host) -> None:
    notes.play = playing(notes, {"tools/list": result({"tools": [], "nextCursor": "again"})})
    assert await client.list_tools(notes.url, "") == []
    assert len(notes.seen) < client.MAX_PAGES + 6


async def test_a_session_whose_end_is_answered_for_ever_ends(notes: Host) -> None:
    async def drip(send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(16):
            await send({"type": "http.response.body", "body": b"x", "more_body": True})
            await asyncio.sleep(0.5)

    done = {"content": [{"type": "text", "text": "done"}]}
    notes.play = playing(notes, {"tools/call": result(done), "DELETE": lambda _: drip})
    began = time.monotonic()
    assert (await client.call(notes.url, "", "do", {})).text == "done"
    assert time.monotonic() - began < client.GOODBYE_SECONDS + 3


async def test_a_server_that_asks_without_end_is_left(notes: Host) -> None:
    pings = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in range(2_000)]
    events = "".join(f"data: {json.dumps(ping)}\n\n" for ping in pings).encode()
    notes.play = playing(notes, {"tools/call": lambda _: response(events, content_type="text/event-stream")})
    with pytest.raises(ServerFailed):
        async with asyncio.timeout(8):
            await client.call(notes.url, "", "do", {})
    assert len(notes.seen) < client.MAX_REPLIES + 10


async def test_a_server_may_ask_whether_anybody_is_there(notes: Host) -> None:
    def asking(number: int) -> Play:
        done = {"content": [{"type": "text", "text": "done"}]}
        sent = [
            {"jsonrpc": "2.0", "id": "a", "method": "ping"},
            {"jsonrpc": "2.0", "id": number, "result": done},
        ]
        events = "".join(f"data: {json.dumps(each)}\n\n" for each in sent).encode()
        return response(events, content_type="text/event-stream")

    notes.play = playing(notes, {"tools/call": asking})
    assert (await client.call(notes.url, "", "do", {})).text == "done"
