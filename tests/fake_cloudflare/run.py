"""One call of the fake, and how the question chooses what happens to it."""

import asyncio
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, cast

from tests.fake_cloudflare import frames
from tests.fake_cloudflare.http_server import Connection
from tests.fake_cloudflare.whole_replies import Whole

_LINE = re.compile(r"^\s*fake:\s*(\w+)(.*)$", re.MULTILINE)
# The scenario of a call that continues a reply to a question with such a line.
_THEN = re.compile(r"^\s*fake-then:\s*(\w+)(.*)$", re.MULTILINE)
# The scenario of one model alone, by the last part of its name: `fake for gpt-oss-20b: status code=3040`.
_FOR = r"^\s*fake for {}:\s*(\w+)(.*)$"
PICTURE_TOKENS = 600
ECHO_SECONDS = 1.0  # that the reply to a question without such a line takes at most
SCENARIOS: dict[str, Callable[..., Awaitable[None]]] = {}


class WrongScenario(Exception):
    """The `fake:` line names something that is not there; the test has a mistake."""


@dataclass
class Run:
    """One call of a model: what was asked, and the connection that the scenario answers on."""

    connection: Connection
    body: dict[str, Any]
    headers: list[tuple[str, str]]
    port: int
    model: str = ""
    failures: Counter[str] = field(default_factory=Counter)
    gates: defaultdict[str, asyncio.Event] = field(default_factory=lambda: defaultdict(asyncio.Event))
    word: str = "word"  # of those that are counted
    usual: str = "words"  # the scenario of a question without a `fake:` line
    before: bytes = b""  # what comes first in every stream

    @property
    def question(self) -> str:
        """The last user message's text, or the prompt."""
        user_messages = [m["content"] for m in self.body.get("messages", []) if m.get("role") == "user"]
        return _text(user_messages[-1] if user_messages else self.body.get("prompt", ""))

    @property
    def pictures(self) -> int:
        """The number of pictures in the messages."""
        contents = [message.get("content") for message in self.body.get("messages", [])]
        parts = [part for content in contents if isinstance(content, list) for part in content]
        return sum(part.get("type") == "image_url" for part in parts)

    @property
    def continued(self) -> str:
        """The question whose unfinished reply stands before the last message; "" where none does."""
        messages = self.body.get("messages", [])
        if [message.get("role") for message in messages[-3:]] != ["user", "assistant", "user"]:
            return ""
        return _text(messages[-3]["content"])

    @property
    def prompt_tokens(self) -> int:
        texts = [_text(message.get("content", "")) for message in self.body.get("messages", [])]
        return 1 + sum(map(len, texts)) // 4 + self.pictures * PICTURE_TOKENS

    @property
    def max_tokens(self) -> int:
        return self.body.get("max_completion_tokens") or self.body.get("max_tokens") or 256

    def open(self, *more: tuple[str, str]) -> None:
        self.connection.start(200, [("Content-Type", "text/event-stream"), *self.headers, *more])
        if self.before:
            self.connection.write(self.before)

    async def send(self, pieces: Iterable[bytes], delay: float, *, end: bool = True) -> None:
        self.open()
        await self.connection.drip(pieces, delay)
        if end:
            self.connection.end()

    def tokens(self, count: int, text: str) -> list[str]:
        if text:
            return frames.tokens_of(text)
        if count:
            return frames.numbered(count, self.word)
        seen = f" I see {self.pictures} picture(s)." if self.pictures else ""
        return frames.tokens_of(f"You said: {self.question}{seen}")


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return str(content)


async def play(run: Run) -> None:
    """Answers as the `fake:` line of the question says. Raises WrongScenario."""
    own = re.escape(run.model.rpartition("/")[2])
    found = re.search(_FOR.format(own), run.question, re.MULTILINE) or _LINE.search(run.question)
    if found is None and (found := _THEN.search(run.continued)):
        run.word = "more"
    name, given = (run.usual, "") if found is None else (found[1], found[2])
    scenario = SCENARIOS.get(name)
    if scenario is None:
        raise WrongScenario(f"no scenario {name!r}; there are {', '.join(sorted(SCENARIOS))}")
    defaults = {key: each.default for key, each in signature(scenario).parameters.items() if key != "run"}
    try:
        options = dict(part.partition("=")[::2] for part in shlex.split(given))
    except ValueError as wrong:
        raise WrongScenario(f"{given!r}: {wrong}") from None
    if unknown := set(options) - set(defaults):
        raise WrongScenario(f"{name} has no option {', '.join(unknown)}; it has {', '.join(defaults)}")
    values = {key: type(defaults[key])(value) for key, value in options.items()}
    if found is None:
        values["delay"] = min(defaults["delay"], ECHO_SECONDS / len(run.tokens(0, "")))
    if not run.body.get("stream"):
        parsed = run.body.get("response_format", {}).get("type", "text") != "text"
        whole = Whole(run.connection, envelope=bool(run.model), parsed=parsed)
        run.connection = cast(Connection, whole)
    await scenario(run, **values)


def scenario(function: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    SCENARIOS[function.__name__] = function
    return function
