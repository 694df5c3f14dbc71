"""Runs that another process owns, followed by its messages and always by the database as well.

A run that has ended and left the memory of its process, or that waits for the person, is read from the
database in the same way.

Messages go over the channel layer. Each is only a hint: any may be lost. Each process has one channel and
one task that reads it, because both layers misbehave with one channel per viewer. An owner sends only to
processes with viewers, so traffic grows with processes, not with runs.
"""

import asyncio
import uuid
from collections import deque
from collections.abc import Sequence
from typing import Any

from channels.layers import InMemoryChannelLayer, get_channel_layer
from django.db import Error

from chat.db.background import BackgroundTasks, FailureLog
from chat.db.executor import run_in_db
from chat.engine.generation.run_storage import load_snapshot, still_waiting
from chat.engine.generation.supervisor import Supervisor
from chat.engine.streaming.run_state import RunInfo, RunState
from chat.models import Run
from chat.wire.position import Position

DATABASE_POLL_SECONDS = 1.0  # interval of reading the database of a run of which no messages come
IDLE_SECONDS = 10.0  # a live remote run without viewers is dropped after this time, an ended one at once
PUBLISH_INTERVAL_SECONDS = 0.05  # interval of messages to a process that has viewers
RESUBSCRIBE_SECONDS = 5.0  # interval at which a subscription is renewed
SUBSCRIPTION_SECONDS = 15.0  # lifetime of a subscription that is not renewed
MAX_OUTBOX = 1_000  # messages waiting for the layer; the oldest are dropped, the database has their text
SEND_TIMEOUT_SECONDS = 2.0
RECONNECT_SECONDS = 1.0  # pause before a broken layer is tried again


class RemoteRun:
    """A run that this process does not generate: another one does, or it waits, or it has ended.

    `owner` is the channel of the process that generates it; "" for none. The owner's deltas and the
    database's chunks are both applied to `state`. `waited` are the seconds in its row while it waits.
    """

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.owner = ""
        self.waited: float | None = None
        self.next_poll = 0.0
        self.last_watched = asyncio.get_running_loop().time()


class RemoteRuns:
    """The remote runs that viewers of this process follow, for some time after the last one has left, too."""

    def __init__(self) -> None:
        self.open: dict[uuid.UUID, RemoteRun] = {}
        self._log = FailureLog("reading of runs of other processes")

    def get_or_create(self, run: Run) -> RemoteRun:
        """Return the copy of `run`: one per process, however many viewers there are."""
        return self.keep(self.open.get(run.pk) or RemoteRun(RunState(RunInfo.of(run))))

    def keep(self, remote_run: RemoteRun) -> RemoteRun:
        """Restart the time after which `poll` drops a remote run without viewers, for one about to join.

        Otherwise a viewer could join a run that is no longer polled, and wait for ever.
        """
        remote_run.last_watched = asyncio.get_running_loop().time()
        return self.open.setdefault(remote_run.state.info.run, remote_run)

    def adopt(self, state: RunState) -> None:
        """Follow a run that this process does not generate any more, for its viewers."""
        self.keep(RemoteRun(state))

    def take(self, run: Run) -> RunState:
        """Return the state of a run that this process generates from now on, with its viewers."""
        remote_run = self.open.pop(run.pk, None)
        return remote_run.state if remote_run else RunState(RunInfo.of(run))

    def append(self, run: uuid.UUID, at: Position, text: str, reasoning: str) -> None:
        """Apply text from the owner. After a gap, or a new step, the next `poll` reads the database at once.

        The steps of `at` are the changes of steps that the owner has stored.
        """
        if remote_run := self.open.get(run):
            now = asyncio.get_running_loop().time()
            state = remote_run.state
            applied = state.apply(at, text, reasoning) and at.steps <= state.revision
            remote_run.next_poll = now + DATABASE_POLL_SECONDS if applied else 0.0

    def poll_soon(self, run: uuid.UUID) -> None:
        """Read the database at once: the run has ended, or a person stops it."""
        if remote_run := self.open.get(run):
            remote_run.next_poll = 0.0

    async def poll(self) -> None:
        """Read every remote run that is due, and drop the unused. To be called a few times a second."""
        now = asyncio.get_running_loop().time()
        due = []
        for run, remote_run in list(self.open.items()):
            state = remote_run.state
            if state.viewers:
                remote_run.last_watched = now
            elif state.outcome or now - remote_run.last_watched > IDLE_SECONDS:
                del self.open[run]
                state.close()
            if state.outcome is None and now >= remote_run.next_poll:
                remote_run.next_poll = now + DATABASE_POLL_SECONDS
                due.append(remote_run)
        for remote_run in await self._changed(due):
            if self.open.get(remote_run.state.info.run) is remote_run:  # not taken while others were read
                await self.refresh(remote_run)

    async def _changed(self, due: Sequence[RemoteRun]) -> Sequence[RemoteRun]:
        """Leave out the runs that wait still: one statement finds hundreds of them."""
        waited = {each.state.info.run: each.waited for each in due if each.waited is not None}
        try:
            still = await run_in_db(still_waiting, waited) if waited else set()
        except Error as error:
            self._log.failed(error)
            still = set(waited)
        return [each for each in due if each.state.info.run not in still]

    async def refresh(self, remote_run: RemoteRun) -> None:
        """Read what the database has of the run. If it cannot be read now, `poll` tries again."""
        state = remote_run.state
        try:
            snapshot = await run_in_db(load_snapshot, state.info.run, state.end)
        except Error as error:
            self._log.failed(error)
            return
        self._log.succeeded()
        if self.open.get(state.info.run) is not remote_run:
            return  # this process generates it by now
        remote_run.owner, remote_run.waited = snapshot.owner, snapshot.waited
        state.earlier_steps = snapshot.found.earlier_steps
        state.sources = snapshot.found.sources
        state.show_steps(snapshot.found.steps)
        if snapshot.outcome is None:
            state.apply(snapshot.at, snapshot.text, snapshot.reasoning)
        else:
            state.replace(snapshot.text, snapshot.reasoning)
            state.finish(snapshot.outcome)


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
        self._subscriptions: dict[uuid.UUID, dict[str, Subscription]] = {}  # of others, to our runs
        self._owners: dict[uuid.UUID, tuple[str, float]] = {}  # whom we asked, and when to ask again
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
        for run in self._owners.keys() - self._remote_runs.open.keys():
            del self._owners[run]
        for run, remote_run in self._remote_runs.open.items():
            owner, renew = self._owners.get(run, ("", 0.0))
            if remote_run.state.outcome:
                self._owners.pop(run, None)
            elif remote_run.owner and (now >= renew or owner != remote_run.owner):
                self.subscribe(run, remote_run.owner, remote_run.state.end)

    def _publish_run(self, run: uuid.UUID, state: RunState | None, now: float) -> None:
        subscriptions = self._subscriptions[run]
        for subscription in list(subscriptions.values()):
            if state is None or state.outcome:
                self._post_end(subscription.channel, run)
                del subscriptions[subscription.channel]
            elif now > subscription.until:
                del subscriptions[subscription.channel]
            elif subscription.at != state.end._replace(steps=state.revision):
                self._publish_to(subscription, state)
        if not subscriptions:
            del self._subscriptions[run]

    def _post_end(self, channel: str, run: uuid.UUID) -> None:
        """Tell a process that the run has ended, so that it reads the outcome from the run's row."""
        self._enqueue(channel, {"type": "ended", "run": str(run)})

    def _publish_to(self, subscription: Subscription, state: RunState) -> None:
        at = subscription.at
        message = {"type": "delta", "run": str(state.info.run), "at": str(at._replace(steps=state.revision))}
        message |= {"text": state.text[at.text :], "reasoning": state.reasoning[at.reasoning :]}
        self._enqueue(subscription.channel, message)
        subscription.at = state.end._replace(steps=state.revision)
