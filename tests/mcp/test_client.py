"""Requests to tool servers: to a real one that others wrote, and to those that mean harm."""

import asyncio
import gzip
import json
import logging
import time
from typing import Any

import pytest
from mcp_types import ImageContent, ResourceLink, TextContent, ToolAnnotations

from chat.conversations.tools.mcp import client
from chat.conversations.tools.mcp.client import ServerFailed
from chat.conversations.tools.mcp.servers import HeaderProblem
from tests.mcp.hosts import Host, Play, endless, response, silence

BERLIN = {"timezone": "Europe/Berlin"}
QUESTION = response(b'{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}')
LONG = b'{"jsonrpc": "2.0", "id": 1, "result": "' + b"x" * 2_000_000 + b'"}'


async def test_the_tools_of_a_real_server_are_listed_and_called(times: Host) -> None:
    tools = {tool.name: tool for tool in await client.list_tools(times.url, "")}
    assert set(tools) == {"get_current_time", "convert_time"}
    assert tools["get_current_time"].read_only
    assert tools["get_current_time"].description == "Get current time in a specific timezone"
    answer = await client.call(times.url, "", "get_current_time", BERLIN)
    assert (json.loads(answer.text)["timezone"], answer.is_error) == ("Europe/Berlin", False)
    assert times.calls[0]["arguments"] == BERLIN
    wrong = await client.call(times.url, "", "get_current_time", {"timezone": "Nowhere"})
    assert (wrong.is_error, "Nowhere" in wrong.text) == (True, True)
    with pytest.raises(ServerFailed, match="Unknown tool"):
        await client.call(times.url, "", "nothing", {})


async def test_a_server_is_told_nothing_but_the_call(
    times: Host, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MCP_SECRETS = {"MCP_KEY": "s3cret-of-times", "MCP_OTHER": "another"}
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    await client.call(
        times.url, "Authorization: Bearer $MCP_KEY\nX-Key: $MCP_KEY", "get_current_time", BERLIN
    )
    for request in times.seen:
        body, headers = json.loads(request["body"]), request["headers"]
        assert (headers["authorization"], headers["x-key"]) == ("Bearer s3cret-of-times", "s3cret-of-times")
        assert headers["user-agent"] == "chat"
        assert not {"cookie", "traceparent", "baggage", "referer"} & set(headers)
        meta = body["params"]["_meta"]
        assert meta["io.modelcontextprotocol/clientCapabilities"] == {}
        assert not {"traceparent", "tracestate"} & set(meta)
    assert times.calls[0]["arguments"] == BERLIN


async def test_a_server_of_the_older_protocol_gets_its_session_closed(notes: Host) -> None:
    notes.is_old = True
    notes.server.add_tool(lambda: "done", name="do", description="Do.")
    assert [tool.name for tool in await client.list_tools(notes.url, "")] == ["do"]
    assert (await client.call(notes.url, "", "do", {})).text == "done"
    assert [each["method"] for each in notes.seen].count("DELETE") == 2
    assert "GET" not in {each["method"] for each in notes.seen}  # nobody hears what it says by itself


@pytest.mark.parametrize(
    "play",
    [
        response(LONG),
        response(gzip.compress(LONG), content_encoding="gzip"),
        endless,
        response(b"[" * 100_000),
        response(b"<html>", content_type="text/html"),
        response(b"", 500),
        response(b"", 401, www_authenticate="Bearer"),
        response(b"", 307, location="http://127.0.0.1:1/elsewhere"),
        response(b"", 307, location="/other"),
        response(b"", 202),
    ],
)
async def test_what_is_no_answer_fails_soon_and_quietly(
    times: Host, play: Play, caplog: pytest.LogCaptureFixture
) -> None:
    times.play = play
    began = time.monotonic()
    with caplog.at_level(logging.DEBUG), pytest.raises(ServerFailed):
        async with asyncio.timeout(8):
            await client.list_tools(times.url, "")
    assert time.monotonic() - began < 6
    assert [record for record in caplog.records if record.name.startswith(("mcp", "http"))] == []


async def test_no_redirect_is_followed(times: Host) -> None:
    times.play = response(b"", 307, location="/mcp?again")
    with pytest.raises(ServerFailed):
        await client.list_tools(times.url, "")
    assert {each["method"] for each in times.seen} == {"POST"}
    assert len(times.seen) <= 2  # the question about the version, and the older protocol's


@pytest.mark.parametrize("play", [silence, QUESTION, response(b'{"jsonrpc":"2.0","id":9,"result":{}}')])
async def test_a_cancelled_call_ends_and_closes_its_connection(times: Host, play: Play) -> None:
    times.play = play
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await client.call(times.url, "", "get_current_time", BERLIN)
    assert time.monotonic() - began < 1.5
    if play is silence:
        assert await asyncio.to_thread(times.closed.wait, 5)
    assert not any("sampling" in each["body"] for each in times.seen)


async def test_no_cookie_is_kept(notes: Host) -> None:
    notes.play = response(b"{}", 200, set_cookie="a=b")
    with pytest.raises(ServerFailed):
        await client.list_tools(notes.url, "")
    assert len(notes.seen) >= 2
    assert all("cookie" not in each["headers"] for each in notes.seen)


async def test_a_machine_that_is_not_there_is_no_server() -> None:
    with pytest.raises(ServerFailed):
        await client.list_tools("http://127.0.0.1:1/mcp", "")


@pytest.mark.parametrize(
    "line",
    [
        "Authorization: Bearer abc",
        "Authorization: $SECRET_KEY",
        "X: $MCP_A$MCP_B",
        "X: ${MCP_A}",
        "X $MCP_A",
        "X: $MCP_MISSING",
        "X: a\u2028 $MCP_A",
    ],
)
async def test_a_header_is_a_value_of_the_environment(times: Host, settings: Any, line: str) -> None:
    settings.MCP_SECRETS = {"MCP_A": "a-secret", "MCP_B": "b-secret"}
    with pytest.raises(HeaderProblem):
        await client.list_tools(times.url, line)
    assert times.seen == []


async def test_what_is_no_text_is_named_and_not_embedded(notes: Host) -> None:
    def parts() -> list[Any]:
        return [
            TextContent(type="text", text="Look: <script>alert(1)</script>"),
            ImageContent(type="image", data="aGk=", mime_type="image/png"),
            ResourceLink(type="resource_link", name="plan", uri="https://evil.example/plan"),
        ]

    notes.server.add_tool(parts, name="parts", description="Parts.", structured_output=False)
    answer = await client.call(notes.url, "", "parts", {})
    assert answer.text == ("Look: <script>alert(1)</script>\n\n[image]\n\n[plan: https://evil.example/plan]")


async def test_a_long_result_is_cut(notes: Host, settings: Any) -> None:
    settings.TOOL_MAX_RESULT_KB = 1
    notes.server.add_tool(lambda: "é" * 5_000, name="long", description="Long.", structured_output=False)
    answer = await client.call(notes.url, "", "long", {})
    assert answer.text == "é" * 1_000


async def test_annotations_are_what_the_server_says(notes: Host) -> None:
    add = notes.server.add_tool
    add(lambda: "", name="reads", description="", annotations=ToolAnnotations(read_only_hint=True))
    add(lambda: "", name="writes", description="", annotations=ToolAnnotations(read_only_hint=False))
    add(lambda: "", name="says_nothing", description="")
    found = {tool.name: tool.read_only for tool in await client.list_tools(notes.url, "")}
    assert found == {"reads": True, "writes": False, "says_nothing": False}
