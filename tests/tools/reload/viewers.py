"""People who send messages and watch replies as a page does: after a break, on from their position."""

import asyncio
import json
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx

from chat.wire import sse
from tests.support.people import CSRF, SESSIONS

PAUSE = 0.2  # seconds before the next try
PATIENCE = 45.0  # seconds without any success, after which a viewer gives up
SILENCE = 20.0  # seconds; a stream carries at least a ping each 15


def client(url: str, *, kept: bool, person: str = "alice") -> httpx.AsyncClient:
    """`kept`: connections stay open between requests, as those of a proxy."""
    prefix = "__Host-" if url.startswith("https") else ""
    cookies = f"{prefix}csrftoken={CSRF}; {prefix}sessionid={SESSIONS[person]}"
    return httpx.AsyncClient(
        base_url=url,
        headers={"X-CSRFToken": CSRF, "Origin": url, "Cookie": cookies}
        | ({} if kept else {"Connection": "close"}),
        timeout=httpx.Timeout(30.0, read=SILENCE),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=20 if kept else 0),
        verify=False,
    )


@dataclass(slots=True)
class Viewer:
    """One reply as one person sees it, over all connections. `counts` is shared by all viewers."""

    http: httpx.AsyncClient
    counts: Counter[str]
    question: str = ""  # of a person who sends; others follow `run`
    fields: dict[str, Any] = field(default_factory=dict)  # further ones of the question
    run: str = ""
    key: str = field(default_factory=lambda: str(uuid.uuid4()))
    text: str = ""
    position: str = ""
    status: str = ""
    finished: bool = False
    known: asyncio.Event = field(default_factory=asyncio.Event)

    async def watch(self) -> None:
        """Send, or follow, until the end of the reply; or give up."""
        self.counts["viewers"] += 1
        tried_until = time.monotonic() + PATIENCE
        while not self.finished and time.monotonic() < tried_until:
            before = len(self.text)
            try:
                await self._connect()
            except httpx.ConnectError:
                self.counts["refused"] += 1
            except httpx.TransportError:
                self.counts["broken" if self.run else "unanswered"] += 1
            if len(self.text) > before:
                tried_until = time.monotonic() + PATIENCE
            if not self.finished:
                await asyncio.sleep(PAUSE)
        self.counts["cut"] += not self.finished

    async def _connect(self) -> None:
        async with self._request() as response:
            if response.status_code == 204:
                self.finished = True
            elif response.status_code == 200:
                self.run = response.headers["X-Run-Id"]
                self.known.set()
                await self._read(response)
            else:
                self.counts["draining" if response.status_code == 503 else "other statuses"] += 1

    def _request(self):  # type: ignore[no-untyped-def]
        if self.run:
            headers = {"Last-Event-ID": self.position} if self.position else {}
            return self.http.stream("GET", f"/runs/{self.run}/stream/", headers=headers)
        body = {"content": self.question, "client_key": self.key, **self.fields}
        return self.http.stream("POST", "/c/", json=body)

    async def _read(self, response: httpx.Response) -> None:
        decoder = sse.Decoder()
        async for chunk in response.aiter_raw():
            for event in decoder.feed(chunk):
                self._take(event)
        self.counts["moved"] += not self.finished

    def _take(self, event: sse.Event) -> None:
        if event.data == "[DONE]":
            self.finished = True
            return
        payload = json.loads(event.data) if event.data else {}
        if event.event == "reset":
            self.text = ""
        self.text += payload.get("response", "")
        self.status = payload["status"] if event.event == "done" else self.status
        self.position = event.id or self.position
