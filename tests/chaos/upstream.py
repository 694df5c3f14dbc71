"""Known texts: each token of each reply is another word, so that none can be taken for another."""

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
    )


def name_in(text: str) -> str:
    """The name of the reply that was asked for; "" where none was."""
    found = _NAME.search(text)
    return found[1] if found else ""


@scenario
async def known(run: Run, name: str = "", tokens: int = 5, thoughts: int = 0, delay: float = 0.05) -> None:
    """Send the texts known for `name`: its reasoning, then its text."""
    thinking = (frames.chunk(token, "reasoning_content") for token in tokens_of(name, thoughts, "t"))
    writing = frames.catalog(tokens_of(name, tokens, "w"), run.prompt_tokens)
    await run.send(chain(thinking, writing), delay)
