"""Messages between processes over the channel layer. Each is only a hint: any may be lost.

Each process has one channel and one task that reads it, because both layers misbehave with one channel per
viewer. An owner sends only to processes with viewers, so traffic grows with processes, not with runs.
"""

import asyncio
import uuid
from collections import deque
from typing import Any

from channels.layers import InMemoryChannelLayer, get_channel_layer

from chat.db.background import BackgroundTasks, FailureLog
from chat.engine.generation.supervisor import Supervisor
from chat.engine.streaming.run_state import RunState
from chat.wire.position import Position

from .remote_run import RemoteRuns

PUBLISH_INTERVAL_SECONDS = 0.05  # interval of messages to a process that has viewers
RESUBSCRIBE_SECONDS = 5.0  # interval at which a subscription is renewed
SUBSCRIPTION_SECONDS = 15.0  # lifetime of a subscription that is not renewed
MAX_OUTBOX = 1_000  # messages waiting for the layer; the oldest are dropped, the database has their text
SEND_TIMEOUT_SECONDS = 2.0
RECONNECT_SECONDS = 1.0  # pause before a broken layer is tried again


class Subscription:
    """A process that follows one of our runs: `at` is what it was sent, `until` the expiry (loop's clock)."""

    def __init__(self, channel: str, at: Position) -> None:
        self.channel = channel
        self.at = at
        self.until = 0.0


class RunPubSub:
    """Send and receive the messages of one process. Inactive if the layer reaches no other process."""

    def __init__(self, supervisor: Supervisor, remote_runs: RemoteRuns) -> None:
        self.channel = ""
        self._supervisor = supervisor
        self._remote_runs = remote_runs
        self._layer: Any = get_channel_layer()
        self._subscriptions: dict[uuid.UUID, dict[str, Subscription]] = {}
        self._owners: dict[uuid.UUID, tuple[str, float]] = {}
        self._outbox: deque[tuple[str, dict[str, Any]]] = deque(maxlen=MAX_OUTBOX)
        self._wake = asyncio.Event()
        self._tasks = BackgroundTasks()
        # A failure costs only latency, because the database has the same data. Each layer has its own errors.
        self._log = FailureLog("sending to the channel layer", outages=Exception)

    async def start(self) -> None:
        """Join the layer. If it does not answer now, `_receive` joins it when it does."""
        if self._layer is None or isinstance(self._layer, InMemoryChannelLayer):
            return
        await self._log.watch(self._join())
        self._tasks.start(self._receive(), "pubsub receive")
        self._tasks.start(self._send(), "pubsub send")
        self._tasks.repeat(self._publish, PUBLISH_INTERVAL_SECONDS, "pubsub publish")

    async def _join(self) -> None:
        self.channel = await asyncio.wait_for(self._layer.new_channel("chat"), SEND_TIMEOUT_SECONDS)

    async def stop(self) -> None:
        if self._tasks:
            await self._tasks.cancel()
            await self._log.watch(self._layer.flush())  # closes its connections

    def subscribe(self, run: uuid.UUID, owner: str, at: Position) -> None:
        """Ask the owner of a run for its text from `at` on. Renewed while its `RemoteRun` is open."""
        if self.channel and owner:
            self._owners[run] = (owner, asyncio.get_running_loop().time() + RESUBSCRIBE_SECONDS)
            self._enqueue(owner, {"type": "watch", "run": str(run), "from": self.channel, "at": str(at)})

    def publish_stop(self, run: uuid.UUID, owner: str) -> None:
        if self.channel and owner:
            self._enqueue(owner, {"type": "stop", "run": str(run)})

    def _enqueue(self, channel: str, message: dict[str, Any]) -> None:
        self._outbox.append((channel, message))
        self._wake.set()

    async def _send(self) -> None:
        """Send the outbox. This is the only task that sends, so a slow layer delays messages, never a run."""
        while True:
            while self._outbox:
                channel, message = self._outbox.popleft()
                sending = self._layer.send(channel, message)
                await self._log.watch(asyncio.wait_for(sending, SEND_TIMEOUT_SECONDS))
            self._wake.clear()
            await self._wake.wait()

    async def _receive(self) -> None:
        """Receive without a timeout, because a timeout would unsubscribe and lose messages meanwhile."""
        log = FailureLog("receiving from the channel layer", outages=Exception)
        while True:
            try:
                if not self.channel:
                    await self._join()
                self._dispatch(await self._layer.receive(self.channel))
                log.succeeded()
            except asyncio.CancelledError:
                raise
            except Exception as error:
                log.failed(error)
                await asyncio.sleep(RECONNECT_SECONDS)

    def _dispatch(self, message: dict[str, Any]) -> None:
        run = uuid.UUID(message["run"])
        match message["type"]:
            case "watch":
                self._on_subscribe(run, message["from"], Position.parse(message["at"]))
            case "delta":
                at = Position.parse(message["at"])
                self._remote_runs.append(run, at, message["text"], message["reasoning"])
            case "ended":
                self._remote_runs.poll_soon(run)
            case "stop":
                self._supervisor.stop(run)

    def _on_subscribe(self, run: uuid.UUID, channel: str, at: Position) -> None:
        state = self._supervisor.states.get(run)
        if state is None or state.outcome:
            self._post_end(channel, run)
            return
        subscriptions = self._subscriptions.setdefault(run, {})
        subscription = subscriptions.setdefault(channel, Subscription(channel, at))
        subscription.until = asyncio.get_running_loop().time() + SUBSCRIPTION_SECONDS

    async def _publish(self) -> None:
        """Send new text to the subscribers, and renew our own subscriptions."""
        now = asyncio.get_running_loop().time()
        for run in list(self._subscriptions):
            self._publish_run(run, self._supervisor.states.get(run), now)
        for run, (owner, renew) in list(self._owners.items()):
            remote_run = self._remote_runs.open.get(run)
            if remote_run is None or remote_run.outcome:
                del self._owners[run]
            elif now >= renew:
                self.subscribe(run, owner, remote_run.end)

    def _publish_run(self, run: uuid.UUID, state: RunState | None, now: float) -> None:
        subscriptions = self._subscriptions[run]
        for subscription in list(subscriptions.values()):
            if state is None or state.outcome:
                self._post_end(subscription.channel, run)
                del subscriptions[subscription.channel]
            elif now > subscription.until:
                del subscriptions[subscription.channel]
            elif subscription.at != state.end:
                self._publish_to(subscription, state)
        if not subscriptions:
            del self._subscriptions[run]

    def _post_end(self, channel: str, run: uuid.UUID) -> None:
        """Tell a process that the run has ended, so that it reads the outcome from the run's row."""
        self._enqueue(channel, {"type": "ended", "run": str(run)})

    def _publish_to(self, subscription: Subscription, state: RunState) -> None:
        at = subscription.at
        self._enqueue(
            subscription.channel,
            {
                "type": "delta",
                "run": str(state.info.run),
                "at": str(at),
                "text": state.text[at.text :],
                "reasoning": state.reasoning[at.reasoning :],
            },
        )
        subscription.at = state.end
