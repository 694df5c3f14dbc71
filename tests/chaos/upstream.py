"""Known texts: each token of each reply is another word, so that none can be taken for another."""

import asyncio
import json
import re
from collections.abc import Iterator
from itertools import chain

from tests.fake_cloudflare import frames
from tests.fake_cloudflare.run import Run, scenario

from .schedule import Reply

PARAGRAPH_TOKENS = 40
_NAME = re.compile(r"name=(\w+)")


def tokens_of(name: str, count: int, letter: str) -> Iterator[str]:
    for number in range(1, count + 1):
        gap = "" if number == 1 else "\n\n" if number % PARAGRAPH_TOKENS == 1 else " "
        yield f"{gap}{name}{letter}{number}"


def text_of(reply: Reply) -> str:
    return "".join(tokens_of(reply.name, reply.tokens, "w"))


def reasoning_of(reply: Reply) -> str:
    return "".join(tokens_of(reply.name, reply.thoughts, "t"))


def question(reply: Reply) -> str:
    return (
        f"fake: known name={reply.name} tokens={reply.tokens} thoughts={reply.thoughts} delay={reply.delay}"
        f" steps={reply.steps}"
    )


def name_in(text: str) -> str:
    """The name of the reply that was asked for; "" where none was."""
    found = _NAME.search(text)
    return found[1] if found else ""


@scenario
async def known(
    run: Run, name: str = "", tokens: int = 5, thoughts: int = 0, delay: float = 0.05, steps: int = 0
) -> None:
    """Send the texts known for `name`: its reasoning, then its text, after so many turns with a call.

    The second call asks the person first: nobody else has named its address.
    """
    asked = [each for each in run.body["messages"] if each.get("tool_calls")]
    if run.body.get("tools") and len(asked) < steps:
        tool, arguments = "search_my_chats", {"query": f"{name}s{len(asked)}"}
        if len(asked) == 1:
            tool, arguments = "read_page", {"url": f"http://127.0.0.1/?{name}"}
        function = {"name": tool, "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": f"call{len(asked)}", "type": "function", "function": function}
        called = frames.frame({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
        await asyncio.sleep(delay * 5)
        await run.send([called, *frames.closing("tool_calls", run.prompt_tokens, 1), frames.DONE], delay)
        return
    thinking = (frames.chunk(token, "reasoning_content") for token in tokens_of(name, thoughts, "t"))
    writing = frames.catalog(tokens_of(name, tokens, "w"), run.prompt_tokens)
    await run.send(chain(thinking, writing), delay)
