"""What the fake can do: one coroutine a scenario, each writing the bytes of a whole exchange.

Pacing follows a clock, not a sum of sleeps, so that 100 streams keep their rate on a busy machine.
"""

import asyncio
import json
import re
import socket
import struct
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

REASONS = {200: "OK", 302: "Found", 401: "Unauthorized", 429: "Too Many Requests", 524: "Timeout"}
ERROR_ID = "de3fabb0-569c-4e72-bec9-fedd0de629b3"


class Exchange:
    """One request's answer: headers, chunks, an end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.said = ""
        self.options: dict[str, str] = {}
        self.max_tokens = 256
        self.client_left = False
        self.broken = False

    def number(self, name: str, default: float) -> float:
        return float(self.options.get(name, default))

    async def watching_client(self, answer: Coroutine[Any, Any, None]) -> None:
        """Answer until the client closes the connection, and notice at once when it does."""
        task = asyncio.ensure_future(answer)
        watch = asyncio.ensure_future(self._reader.read(1))
        try:
            await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                self.client_left = self.broken = True
        finally:
            for each in (task, watch):
                each.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await task

    async def json(self, status: int, payload: Any, **headers: str) -> None:
        await self.whole(
            status, json.dumps(payload, ensure_ascii=False).encode(), "application/json", **headers
        )

    async def whole(self, status: int, body: bytes, kind: str, **headers: str) -> None:
        lines = {"Content-Type": kind, "Content-Length": str(len(body)), **headers}
        await self._head(status, lines)
        self._writer.write(body)
        await self._writer.drain()

    async def begin(self, kind: str = "text/event-stream", **headers: str) -> None:
        await self._head(200, {"Content-Type": kind, "Transfer-Encoding": "chunked", **headers})

    async def send(self, data: bytes) -> None:
        self._writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await self._writer.drain()

    async def frame(self, payload: Any, end: str = "\n\n") -> None:
        text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
        await self.send(f"data: {text}{end}".encode())

    async def end(self, done: bool = True) -> None:
        """The last chunk; with [DONE] before it, in the same packet."""
        last = b"data: [DONE]\n\n"
        self._writer.write((b"%x\r\n%s\r\n" % (len(last), last) if done else b"") + b"0\r\n\r\n")
        await self._writer.drain()

    async def break_off(self, how: str) -> None:
        self.broken = True
        if how == "reset":
            sock = self._writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort() if how == "reset" else self._writer.close()

    async def _head(self, status: int, headers: dict[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self._writer.write("\r\n".join([*lines, "", ""]).encode())
        await self._writer.drain()


class Clock:
    """Ticks every `delay` seconds from now on."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._next = asyncio.get_running_loop().time()

    async def tick(self) -> None:
        self._next += self._delay
        if (wait := self._next - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(wait)


def chunk(
    delta: dict[str, Any], finish: str | None = None, usage: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A chunk in OpenAI's shape as Workers AI sends it, with its padding."""
    choice = {"delta": delta, "finish_reason": finish, "index": 0, "logprobs": None}
    frame: dict[str, Any] = {"choices": [choice], "object": "chat.completion.chunk", "p": "abdef"}
    return frame | {"usage": usage or {"prompt_tokens": 0, "completion_tokens": 1, "total_tokens": 1}}


def total(tokens: int, prompt: int = 10) -> dict[str, Any]:
    """The native last frame, which holds the usage of the whole turn."""
    usage = {"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens}
    return {"response": "", "usage": {**usage, "neurons": 1.77}}


def words_of(exchange: Exchange) -> list[str]:
    """word1 word2 … where a number is asked for, else what was said, said back."""
    if "tokens" in exchange.options:
        count = int(exchange.options["tokens"])
        return [f"word{number}{' ' if number < count else ''}" for number in range(1, count + 1)]
    return re.findall(r"\S+\s*", f"You said: {exchange.said}")


async def words(exchange: Exchange) -> None:
    pieces, clock = words_of(exchange), Clock(exchange.number("delay", 0.01))
    await exchange.begin()
    for piece in pieces:
        await clock.tick()
        await exchange.frame(chunk({"content": piece}))
    await _finish(exchange, len(pieces))


async def native(exchange: Exchange) -> None:
    pieces, clock = words_of(exchange), Clock(exchange.number("delay", 0.01))
    await exchange.begin()
    for piece in pieces:
        await clock.tick()
        await exchange.frame({"response": piece, "tool_calls": [], "p": "abdef"})
    await exchange.frame({"tool_calls": [], "p": "abd"})
    await exchange.frame(total(len(pieces)))
    await exchange.end()


async def reasoning(exchange: Exchange) -> None:
    count, clock = int(exchange.number("tokens", 5)), Clock(exchange.number("delay", 0.01))
    await exchange.begin()
    for number in range(1, count + 1):
        await clock.tick()
        thought = f"thought{number} "
        await exchange.frame(chunk({"content": None, "reasoning": thought, "reasoning_content": thought}))
    for piece in ("The ", "answer."):
        await clock.tick()
        await exchange.frame(chunk({"content": piece, "reasoning_content": None}))
    await _finish(exchange, count + 2)


async def _finish(exchange: Exchange, tokens: int, reason: str = "stop") -> None:
    await exchange.frame(chunk({}, reason, {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}))
    await exchange.frame(total(tokens))
    await exchange.end()


async def numbers(exchange: Exchange) -> None:
    await exchange.begin()
    for value in (1, " and ", 2.5, None, " is ", True):
        await exchange.frame(chunk({"content": value}))
    await _finish(exchange, 5)


async def both(exchange: Exchange) -> None:
    await exchange.begin()
    for piece in ("one ", "two"):
        await exchange.frame({"response": piece, **chunk({"content": piece})})
    await _finish(exchange, 2)


async def surrogates(exchange: Exchange) -> None:
    await exchange.begin()
    for half in ('"\\ud83d"', '"\\ude00"'):
        await exchange.frame('{"response": %s}' % half)
    await exchange.frame(total(1))
    await exchange.end()


async def emoji(exchange: Exchange) -> None:
    await exchange.begin()
    for byte in 'data: {"response": "smile 😀 é \u2028 end"}\r\n\r\n'.encode():
        await exchange.send(bytes([byte]))
    await exchange.frame(total(1))
    await exchange.end()


async def comments_only(exchange: Exchange) -> None:
    await exchange.begin()
    while True:
        await exchange.send(b": still here\n\n")
        await asyncio.sleep(exchange.number("delay", 0.05))


async def hang(exchange: Exchange) -> None:
    if exchange.options.get("before") != "headers":
        await exchange.begin()
        for number in range(int(exchange.number("after", 0))):
            await exchange.frame(chunk({"content": f"word{number + 1} "}))
    await asyncio.Event().wait()


async def cut(exchange: Exchange) -> None:
    await exchange.begin()
    for number in range(int(exchange.number("after", 3))):
        await exchange.frame(chunk({"content": f"word{number + 1} "}))
    await asyncio.sleep(exchange.number("delay", 0.15))
    if exchange.options.get("how", "clean") == "clean":
        await exchange.end(done=False)
    else:
        await exchange.break_off(exchange.options["how"])


async def nodone(exchange: Exchange) -> None:
    await exchange.begin()
    await exchange.frame(chunk({"content": "All said."}))
    await exchange.frame(chunk({}, "stop"))
    await exchange.end(done=False)


async def length(exchange: Exchange) -> None:
    await exchange.begin()
    await exchange.frame(chunk({"content": "and so on"}))
    await _finish(exchange, 3, "length")


async def budget(exchange: Exchange) -> None:
    await exchange.begin()
    await exchange.frame({"response": "and so on", "p": "a"})
    await exchange.frame(total(exchange.max_tokens))
    await exchange.end()


async def after_done(exchange: Exchange) -> None:
    await exchange.begin()
    await exchange.frame(chunk({"content": "before"}))
    await exchange.send(b'data: [DONE]\n\ndata: {"response": "after"}\n\n')
    await exchange.end(done=False)


async def unknown_events(exchange: Exchange) -> None:
    await exchange.begin()
    await exchange.send(b"event: execute\ndata: alert(1)\n\nretry: 1\nid: 7\n\n")
    await exchange.frame(chunk({"content": "fine"}))
    await _finish(exchange, 1)


async def instream_error(exchange: Exchange) -> None:
    await exchange.begin()
    for number in range(int(exchange.number("after", 0))):
        await exchange.frame(chunk({"content": f"word{number + 1} "}))
    await exchange.frame(
        {"errors": [{"code": int(exchange.number("code", 3040)), "message": "Capacity exceeded"}]}
    )
    await exchange.end(done=False)


async def endless_line(exchange: Exchange) -> None:
    await exchange.begin()
    await exchange.send(b'data: {"response": "')
    for _ in range(64):
        await exchange.send(b"x" * 65_536)
    await asyncio.Event().wait()


async def whole_json(exchange: Exchange) -> None:
    result = {"response": "All at once.", "usage": total(3)["usage"]}
    await exchange.json(200, {"result": result, "success": True, "errors": [], "messages": []})


async def redirect(exchange: Exchange) -> None:
    await exchange.whole(
        302, b"", "text/plain", Location=exchange.options.get("to", "http://169.254.169.254/")
    )


async def html(exchange: Exchange) -> None:
    await exchange.whole(524, b"<html><title>524: A timeout occurred</title></html>", "text/html")


async def setcookie(exchange: Exchange) -> None:
    await exchange.begin(Set_Cookie="who=alice; Path=/")
    await exchange.frame(chunk({"content": "have a cookie"}))
    await _finish(exchange, 1)


async def status(exchange: Exchange) -> None:
    code, http = int(exchange.number("code", 3040)), int(exchange.number("http", 429))
    headers = {"Retry-After": exchange.options["retry_after"]} if "retry_after" in exchange.options else {}
    message = exchange.options.get("message", "AiError: something").replace("_", " ")
    errors = [{"message": f"{message} ({ERROR_ID})", "code": code}]
    await exchange.json(http, {"errors": errors, "success": False, "result": {}, "messages": []}, **headers)


SCENARIOS: dict[str, Callable[[Exchange], Awaitable[None]]] = {
    "words": words, "openai": words, "native": native, "reasoning": reasoning, "numbers": numbers, "both": both,
    "surrogates": surrogates, "emoji": emoji, "comments_only": comments_only, "hang": hang, "silent": hang,
    "cut": cut, "nodone": nodone, "length": length, "budget": budget, "after_done": after_done,
    "unknown_events": unknown_events, "instream_error": instream_error, "endless_line": endless_line,
    "json": whole_json, "redirect": redirect, "html": html, "setcookie": setcookie, "status": status,
}  # fmt: skip
