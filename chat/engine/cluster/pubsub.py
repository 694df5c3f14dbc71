"""What processes tell each other over the channel layer. Each message is a hint: any may be lost.

One channel a process and one task that reads it: both layers misbehave with one channel a viewer. An owner
tells only processes where somebody watches, so traffic grows with processes, not with runs.
"""

import asyncio
import logging
import uuid
from collections import deque
from typing import Any

from channels.layers import InMemoryChannelLayer, get_channel_layer

from chat.background import BackgroundTasks
from chat.engine.generation.supervisor import Supervisor
from chat.engine.streaming.position import Position
from chat.engine.streaming.run_state import Live

from .remote_run import Mirrors

TELL = 0.05  # seconds between two messages to a process that watches
WATCH = 5.0  # seconds after which interest is renewed
INTEREST = 15.0  # seconds that a process's interest in a run lasts
WAITING = 1_000  # messages held for the layer; older ones are dropped, the database has their text
SEND_TIMEOUT = 2.0  # seconds
PAUSE = 1.0  # seconds before a broken layer is tried again

logger = logging.getLogger(__name__)


class Interest:
    """A process that watches one of our runs, and how far it was told."""

    def __init__(self, channel: str, at: Position) -> None:
        self.channel = channel
        self.at = at
        self.until = 0.0


class Hub:
    """Sends and receives the hints of one process. Does nothing where the layer reaches nobody else."""

    def __init__(self, supervisor: Supervisor, mirrors: Mirrors) -> None:
        self.channel = ""
        self._supervisor = supervisor
        self._mirrors = mirrors
        self._layer: Any = get_channel_layer()
        self._interests: dict[uuid.UUID, dict[str, Interest]] = {}
        self._owners: dict[uuid.UUID, tuple[str, float]] = {}
        self._outbox: deque[tuple[str, dict[str, Any]]] = deque(maxlen=WAITING)
        self._wake = asyncio.Event()
        self._tasks = BackgroundTasks()

    async def start(self) -> None:
        """Join the layer; one that does not answer now is joined when it does."""
        if self._layer is None or isinstance(self._layer, InMemoryChannelLayer):
            return
        await _quietly(self._join())
        self._tasks.start(self._receive(), "hub receive")
        self._tasks.start(self._send(), "hub send")
        self._tasks.repeat(self._tell, TELL, "hub tell")

    async def _join(self) -> None:
        self.channel = await asyncio.wait_for(self._layer.new_channel("chat"), SEND_TIMEOUT)

    async def stop(self) -> None:
        if self._tasks:
            await self._tasks.cancel()
            await _quietly(self._layer.flush())  # closes its connections

    def watch(self, run: uuid.UUID, owner: str, at: Position) -> None:
        """Ask the owner of a run for its text from `at` on; renewed while a mirror of it is open."""
        if self.channel and owner:
            self._owners[run] = (owner, asyncio.get_running_loop().time() + WATCH)
            self._post(owner, {"type": "watch", "run": str(run), "from": self.channel, "at": str(at)})

    def ask_to_stop(self, run: uuid.UUID, owner: str) -> None:
        if self.channel and owner:
            self._post(owner, {"type": "stop", "run": str(run)})

    def _post(self, channel: str, message: dict[str, Any]) -> None:
        self._outbox.append((channel, message))
        self._wake.set()

    async def _send(self) -> None:
        """The only task that sends: a slow layer delays hints, never a run."""
        while True:
            while self._outbox:
                channel, message = self._outbox.popleft()
                await _quietly(asyncio.wait_for(self._layer.send(channel, message), SEND_TIMEOUT))
            self._wake.clear()
            await self._wake.wait()

    async def _receive(self) -> None:
        """A bare receive: a timeout around it would unsubscribe, and lose what comes meanwhile."""
        while True:
            try:
                if not self.channel:
                    await self._join()
                self._take(await self._layer.receive(self.channel))
            except asyncio.CancelledError:
                raise
            except Exception as error:
                logger.warning("the channel layer does not answer: %s", type(error).__name__)
                await asyncio.sleep(PAUSE)

    def _take(self, message: dict[str, Any]) -> None:
        run = uuid.UUID(message["run"])
        match message["type"]:
            case "watch":
                self._take_interest(run, message["from"], Position.parse(message["at"]))
            case "delta":
                at = Position.parse(message["at"])
                self._mirrors.hear(run, at, message["text"], message["reasoning"])
            case "ended":
                self._mirrors.hear_end(run)
            case "stop":
                self._supervisor.stop(run)

    def _take_interest(self, run: uuid.UUID, channel: str, at: Position) -> None:
        live = self._supervisor.lives.get(run)
        if live is None or live.ending:
            self._post_end(channel, run)
            return
        known = self._interests.setdefault(run, {})
        interest = known.setdefault(channel, Interest(channel, at))
        interest.until = asyncio.get_running_loop().time() + INTEREST

    async def _tell(self) -> None:
        """New text to those who watch, and our own interest renewed."""
        now = asyncio.get_running_loop().time()
        for run in list(self._interests):
            self._tell_of(run, self._supervisor.lives.get(run), now)
        for run, (owner, renew) in list(self._owners.items()):
            mirror = self._mirrors.open.get(run)
            if mirror is None or mirror.ending:
                del self._owners[run]
            elif now >= renew:
                self.watch(run, owner, mirror.end)

    def _tell_of(self, run: uuid.UUID, live: Live | None, now: float) -> None:
        interests = self._interests[run]
        for interest in list(interests.values()):
            if live is None or live.ending:
                self._post_end(interest.channel, run)
                del interests[interest.channel]
            elif now > interest.until:
                del interests[interest.channel]
            elif interest.at != live.end:
                self._tell_one(interest, live)
        if not interests:
            del self._interests[run]

    def _post_end(self, channel: str, run: uuid.UUID) -> None:
        """Have the run's row read, which says how it ended."""
        self._post(channel, {"type": "ended", "run": str(run)})

    def _tell_one(self, interest: Interest, live: Live) -> None:
        at = interest.at
        self._post(
            interest.channel,
            {
                "type": "delta",
                "run": str(live.about.run),
                "at": str(at),
                "text": live.text[at.text :],
                "reasoning": live.reasoning[at.reasoning :],
            },
        )
        interest.at = live.end


async def _quietly(sending: Any) -> None:
    """A layer that fails costs latency only: the database carries the same."""
    try:
        await sending
    except asyncio.CancelledError:
        raise
    except Exception as error:
        logger.warning("the channel layer does not answer: %s", type(error).__name__)
