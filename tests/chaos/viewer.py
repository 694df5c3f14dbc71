"""People in front of the proxy: they send, watch, and come back after every cut."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx

from chat.db.background import BackgroundTasks
from chat.wire import sse
from tests.support.people import CSRF, SESSIONS

from .schedule import Reply
from .sighting import Sighting
from .upstream import question

SILENCE_SECONDS = 20.0  # a stream carries at least a ping each 15; some viewers know that,
PATIENCE_SECONDS = 120.0  # and some do not
ANSWER_SECONDS = 30.0
PAUSE_SECONDS = (0.2, 1.2)
ANSWERED = (202, 404, 409)  # taken, or the call does not wait any more


def client(port: int) -> httpx.AsyncClient:
    """Each request on a connection of its own, so that each may land on another process."""
    return httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}",
        headers={"X-CSRFToken": CSRF, "Connection": "close"},
        timeout=httpx.Timeout(ANSWER_SECONDS, read=SILENCE_SECONDS),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
        verify=False,
    )


def cookies(person: str) -> dict[str, str]:
    return {"Cookie": f"csrftoken={CSRF}; sessionid={SESSIONS[person]}"}


class Audience:
    """All who watch one reply, the sender among them."""

    def __init__(self, http: httpx.AsyncClient, reply: Reply, client_key: str) -> None:
        self.reply = reply
        self.client_key = client_key
        self.run = ""
        self.conversation = ""
        self.sightings: list[Sighting] = []
        self._http = http
        self._known = asyncio.Event()
        self._answers = BackgroundTasks()

    async def watch(self, began: float) -> None:
        """Watch until every viewer has seen the end. Cancel this if it takes too long."""
        await asyncio.sleep(max(0.0, began + self.reply.at - time.monotonic()))
        async with asyncio.TaskGroup() as group:
            for number, page in enumerate(self.reply.pages):
                sends = number == 0 or (number == 1 and self.reply.sent_twice)
                silence = PATIENCE_SECONDS if number == 0 else SILENCE_SECONDS
                group.create_task(self._view(self._sighting(page=page), silence, sends=sends))

    async def look_again(self) -> Sighting:
        """A reload when all is over: the whole stream from its start."""
        sighting = Sighting(page=False)
        await self._view(sighting, SILENCE_SECONDS, sends=False)
        return sighting

    def _sighting(self, *, page: bool) -> Sighting:
        self.sightings.append(Sighting(page))
        return self.sightings[-1]

    async def _view(self, sighting: Sighting, silence: float, *, sends: bool) -> None:
        if not sends:
            await self._known.wait()
        while not sighting.finished:
            try:
                request = self._request(sighting, sends=sends and not sighting.joined)
                await self._connect(sighting, request, silence)
            except (httpx.TransportError, sse.LineTooLong) as error:
                sighting.note(type(error).__name__)
            if not sighting.finished:
                await asyncio.sleep(random.uniform(*PAUSE_SECONDS))

    async def _connect(self, sighting: Sighting, request: dict[str, Any], silence: float) -> None:
        """One connection, read to its end."""
        timeout = httpx.Timeout(ANSWER_SECONDS, read=silence)
        async with self._http.stream(**request, timeout=timeout) as response:
            sighting.note(f"{response.status_code}")
            if response.status_code == 204:
                sighting.finished = True
            elif response.status_code == 200 and "X-Run-Id" in response.headers:
                self._meet(response)
                sighting.joined = True
                async for event, own_id in events(response):
                    sighting.take(event, own_id=own_id)
                    if event.event == "step" and (asked := sighting.asked):
                        self._answers.start(self._answer(asked))

    async def _answer(self, number: int) -> None:
        """Answer for a call that asks first, until the answer is taken. All viewers do, at the same time."""
        path = f"/runs/{self.run}/steps/{number}/{'allow' if self.reply.allows else 'decline'}/"
        while True:
            try:
                response = await self._http.post(path, headers=cookies(self.reply.person), json={})
            except httpx.TransportError:
                pass
            else:
                if response.status_code in ANSWERED:
                    return
            await asyncio.sleep(random.uniform(*PAUSE_SECONDS))

    def _request(self, sighting: Sighting, *, sends: bool) -> dict[str, Any]:
        """A send until it is taken, then the rest of the stream."""
        query = "?html=1" if sighting.page else ""
        headers = cookies(self.reply.person)
        if sends:
            body: dict[str, Any] = {"content": question(self.reply), "client_key": self.client_key}
            body |= {"tools": ["search_my_chats", "web_search"]} if self.reply.steps else {}
            return {"method": "POST", "url": f"/c/{query}", "json": body, "headers": headers}
        if sighting.position:
            headers["Last-Event-ID"] = sighting.position
        return {"method": "GET", "url": f"/runs/{self.run}/stream/{query}", "headers": headers}

    def _meet(self, response: httpx.Response) -> None:
        self.run = response.headers["X-Run-Id"]
        self.conversation = response.headers["X-Conversation-Id"]
        self._known.set()


async def events(response: httpx.Response) -> AsyncIterator[tuple[sse.Event, bool]]:
    """Each event, and whether it has an id of its own."""
    decoder, last = sse.Decoder(), ""
    async for chunk in response.aiter_raw():
        for event in decoder.feed(chunk):
            yield event, event.id != last
            last = event.id
