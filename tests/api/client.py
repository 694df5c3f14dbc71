"""A program that calls our API with plain HTTP."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from chat.wire import sse
from tests.support.server import PATIENCE

MODEL = "@cf/zai-org/glm-4.7-flash"
RUN = "/client/v4/accounts/any/ai/run"
CHAT = "/v1/chat/completions"


def question(text: str, **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "messages": [{"role": "user", "content": text}], **more}


def text(words: str) -> dict[str, str]:
    """A part of a message."""
    return {"type": "text", "text": words}


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


class Program:
    """A program without cookies; `key` is its API key, `id` the row's."""

    def __init__(self, url: str, key: str, id: str = "") -> None:  # noqa: A002
        self.key, self.id = key, id
        self.client = httpx.Client(
            base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=httpx.Timeout(PATIENCE)
        )

    def chat(self, text: str, **more: Any) -> httpx.Response:
        """OpenAI's call, its response whole."""
        return self.client.post(CHAT, json=question(text, **more))

    def run(self, body: dict[str, Any], model: str = MODEL) -> httpx.Response:
        """Workers AI's call, its response whole."""
        return self.client.post(f"{RUN}/{model}", json=body)

    @contextmanager
    def stream(self, path: str, body: dict[str, Any]) -> Iterator["Events"]:
        with self.client.stream("POST", path, json={**body, "stream": True}) as response:
            yield Events(response)


class Events:
    """A stream as it comes."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.done = False
        self._events = self._read()

    def _read(self) -> Iterator[sse.Event]:
        decoder = sse.Decoder()
        for chunk in self.response.iter_raw():
            yield from decoder.feed(chunk)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for event in self._events:
            assert not self.done, "something follows [DONE]"
            if event.data == "[DONE]":
                self.done = True
            else:
                yield json.loads(event.data)
