"""The targets of a bench, and the bytes that are sent to them."""

import json
import uuid
from dataclasses import dataclass
from itertools import count
from typing import ClassVar
from urllib.parse import urlsplit

import httpx

from tests.fake_cloudflare.tool_scenarios import turns_line
from tests.support.people import CSRF, PASSWORD, SESSIONS

ACCOUNT = "acc"
TOKEN = "fake-token"
MODEL = "@cf/zai-org/glm-4.7-flash"
OTHER = "root"
PEOPLE = ("alice", "bob", "carol", OTHER)
STEPS = 8  # of a reply
SOUGHT = "lighthouse"  # what tools search for; no question of a bench has it in plain text

_turn = count()


@dataclass(frozen=True, slots=True)
class Words:
    """A question to which the fake answers so many tokens of a word each, `delay` seconds apart."""

    tokens: int
    delay: float = 0.0

    def __str__(self) -> str:
        return f"Count, please.\nfake: words tokens={self.tokens} delay={self.delay}"


@dataclass(frozen=True, slots=True)
class Steps:
    """A question whose reply calls a tool so many times, one call after the other, and then answers.

    Before each call and the answer it writes `text` tokens, `delay` seconds apart. `address`: of the page
    that it reads, which the question names.
    """

    ANSWER: ClassVar[str] = "Done."

    tool: str
    steps: int = STEPS
    text: int = 1
    delay: float = 0.0
    address: str = ""

    @property
    def switch(self) -> str:
        """The name that switches the tool on."""
        return "web_search" if self.tool == "read_page" else self.tool

    def __str__(self) -> str:
        words = "word " * self.text
        called = {"url": self.address} if self.address else {"query": SOUGHT}
        turn = {"text": words, "calls": [[self.tool, called]]}
        line = turns_line(*[turn] * self.steps, {"text": words + self.ANSWER}, delay=self.delay)
        return f"Look at {self.address or 'the tides'} please.\n{line}"


@dataclass(frozen=True, slots=True)
class Chat:
    """Our server: a logged-in person asks in a new conversation, as the page does: with the text rendered.

    `person`: always this one; otherwise each in turn.
    """

    url: str
    person: str = ""

    def request(self, question: "Question") -> bytes:
        body = {"content": str(question), "client_key": str(uuid.uuid4())}
        headers = _cookies(self.person) if self.person else _person()
        return _request("POST", f"{self.url}/c/?html=1", headers, body)


@dataclass(frozen=True, slots=True)
class Tools:
    """The same with a tool that is switched on, by anybody but OTHER."""

    url: str
    tool: str

    def request(self, question: "Question") -> bytes:
        body = {"content": str(question), "client_key": str(uuid.uuid4()), "tools": [self.tool]}
        headers = _cookies(PEOPLE[next(_turn) % (len(PEOPLE) - 1)])
        return _request("POST", f"{self.url}/c/?html=1", headers, body)


@dataclass(frozen=True, slots=True)
class Viewer:
    """Our server: a logged-in person follows a run of alice's."""

    url: str
    run: str

    def request(self, question: "Question") -> bytes:
        return _request("GET", f"{self.url}/runs/{self.run}/stream/", _cookies("alice"))


@dataclass(frozen=True, slots=True)
class WorkersAI:
    """Workers AI's own call: to the fake, or through the relay."""

    url: str

    def request(self, question: "Question") -> bytes:
        body = {"messages": [{"role": "user", "content": str(question)}], "stream": True, "max_tokens": 1024}
        path = f"/client/v4/accounts/{ACCOUNT}/ai/run/{MODEL}"
        return _request("POST", self.url + path, {"Authorization": f"Bearer {TOKEN}"}, body)


@dataclass(frozen=True, slots=True)
class Api:
    """Our server: a program asks as it would ask OpenAI."""

    url: str
    key: str

    def request(self, question: "Question") -> bytes:
        body = {"model": MODEL, "messages": [{"role": "user", "content": str(question)}], "stream": True}
        return _request(
            "POST", f"{self.url}/v1/chat/completions", {"Authorization": f"Bearer {self.key}"}, body
        )


Target = Chat | Tools | Viewer | WorkersAI | Api
Question = Words | Steps


def api(url: str) -> Api:
    """Create the API's target, with a new key of alice's."""
    wanted = {"name": "bench", "run": True, "days": "never", "password": PASSWORD}
    made = httpx.post(f"{url}/settings/keys/", json=wanted, headers=_cookies("alice"))
    return Api(url, made.raise_for_status().json()["key"])


def _person() -> dict[str, str]:
    return _cookies(PEOPLE[next(_turn) % len(PEOPLE)])


def _cookies(name: str) -> dict[str, str]:
    return {"Cookie": f"sessionid={SESSIONS[name]}; csrftoken={CSRF}", "X-CSRFToken": CSRF}


def _request(method: str, url: str, headers: dict[str, str], body: object = None) -> bytes:
    address = urlsplit(url)
    content = json.dumps(body).encode() if body is not None else b""
    lines = {
        "Host": address.netloc,
        "Accept": "text/event-stream",
        "Content-Type": "application/json",
        "Content-Length": str(len(content)),
        "Connection": "close",
        **headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    path = f"{address.path}?{address.query}" if address.query else address.path
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + content
