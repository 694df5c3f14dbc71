"""One round: replies, viewers and faults at once, then quiet, then a look at everything."""

import asyncio
import re
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field

import httpx

from . import stored, upstream, verdict
from .faults import Fault, Kind
from .front import Front
from .injector import Injector
from .interruption import Cause, cause_of
from .leases import Leases
from .schedule import Reply
from .stage import Stage
from .verdict import Counts, Outcome
from .viewer import Audience, client, cookies

# After the last fault and the last reply: time to be declared dead, swept, and looked at.
QUIET_SECONDS = 90.0
SETTLING_SECONDS = 5.0
LOOK_SECONDS = 120.0
ARTICLE = r'data-run="{}".*?data-part="text"[^>]*>(.*?)</div>'


@dataclass(slots=True)
class Report:
    """The result of a round, and the evidence to understand it."""

    faults: list[Fault]
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    counts: dict[str, Counts] = field(default_factory=dict)
    notes: list[tuple[float, str]] = field(default_factory=list)
    leases: Leases = field(default_factory=Leases)

    @property
    def total(self) -> Counts:
        total = Counts()
        for counts in self.counts.values():
            total.add(counts)
        return total

    @property
    def failed(self) -> bool:
        return bool(self.total.failures)

    @property
    def needs_evidence(self) -> bool:
        """Return True if somebody may want to know why it came so."""
        return self.failed or bool(self.total.interruptions)


class Round:
    """One round, on a stage that outlives it."""

    def __init__(self, stage: Stage, replies: list[Reply], faults: list[Fault], *, looks: bool) -> None:
        self._stage = stage
        self._replies = replies
        self._faults = faults
        self._front = Front([process.address for process in stage.processes], looks=looks)
        self._injector = Injector(stage, self._front)
        self._leases = Leases()

    async def run(self) -> Report:
        for fake in self._stage.fakes:
            fake.clear()
        await self._front.start()
        try:
            async with client(self._front.port) as http:
                return await self._run(http)
        finally:
            await self._front.stop()

    async def _run(self, http: httpx.AsyncClient) -> Report:
        began = time.monotonic()
        audiences = [Audience(http, reply, str(uuid.uuid4())) for reply in self._replies]
        looking = asyncio.create_task(self._leases.watch(self._stage.storage.database))
        watching = [asyncio.create_task(audience.watch(began)) for audience in audiences]
        try:
            await self._injector.run(self._faults, began)
            await asyncio.gather(*(process.ready() for process in self._stage.processes))
            kept = await self._quiet(watching, began)
        finally:
            for task in (looking, *watching):
                task.cancel()
            await asyncio.gather(*watching, return_exceptions=True)
            with suppress(asyncio.CancelledError):
                await looking
        return await self._report(http, audiences, kept)

    async def _quiet(self, watching: list[asyncio.Task[None]], began: float) -> dict[str, stored.Stored]:
        """Wait until all viewers have seen the end. Return the stored texts."""
        last = max(began + reply.at + reply.seconds for reply in self._replies)
        patience = max(0.0, last - time.monotonic()) + QUIET_SECONDS
        give_up = time.monotonic() + patience
        await asyncio.wait(watching, timeout=patience)
        while time.monotonic() < give_up and await self._live_rows():  # noqa: ASYNC110 - others write them
            await asyncio.sleep(0.5)
        return await self._settled(give_up)

    async def _settled(self, give_up: float) -> dict[str, stored.Stored]:
        """Return the stored texts once they stay: a recovered run's owner stores its text later."""
        kept, before = await self._read(), None
        while kept != before and time.monotonic() < give_up:
            await asyncio.sleep(SETTLING_SECONDS)
            kept, before = await self._read(), kept
        return kept

    async def _read(self) -> dict[str, stored.Stored]:
        return await asyncio.to_thread(stored.read, self._stage.storage.database)

    async def _live_rows(self) -> int:
        return await asyncio.to_thread(stored.live_rows, self._stage.storage.database)

    async def _report(
        self, http: httpx.AsyncClient, audiences: list[Audience], kept: dict[str, stored.Stored]
    ) -> Report:
        report = Report(self._faults, notes=self._injector.notes, leases=self._leases)
        for audience in audiences:
            name = audience.reply.name
            outcome = self._outcome(audience, kept.get(name, stored.Stored()))
            if audience.run:
                await self._look(http, audience, outcome)
            report.outcomes[name] = outcome
            report.counts[name] = verdict.judge(outcome)
        return report

    def _outcome(self, audience: Audience, kept: stored.Stored) -> Outcome:
        reply = audience.reply
        text, reasoning = upstream.text_of(reply), upstream.reasoning_of(reply)
        calls = [
            (owner, call)
            for owner, fake in enumerate(self._stage.fakes)
            for call in fake.calls
            if upstream.name_in(str(call["body"])) == reply.name
        ]
        run = kept.runs[0] if kept.runs else ""
        ended = {
            each.kind
            for each in self._injector.endings
            if each.met_run(run, self._leases) or any(each.met_call(*call) for call in calls)
        }
        return Outcome(
            text,
            reasoning,
            audience.sightings,
            kept,
            len(calls),
            steps=reply.steps,
            second=int(len(text) / (reply.tokens * reply.delay)),
            token=max(map(len, upstream.tokens_of(reply.name, reply.tokens, "w"))),
            killed=Kind.KILL in ended,
            ended=bool(ended),
            cause=self._cause(run),
            owners=[owner for owner, _ in calls],
        )

    def _cause(self, run: str) -> Cause:
        pid = self._leases.pid_of(run)
        owner = next((each.number for each in self._stage.processes if pid in each.pids), None)
        return cause_of(run, owner, self._leases, self._injector.troubles)

    async def _look(self, http: httpx.AsyncClient, audience: Audience, outcome: Outcome) -> None:
        """The page and the whole stream, as a reload shows them."""
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                outcome.page = await self._page(http, audience)
                outcome.again = await audience.look_again()
        except TimeoutError:
            outcome.page = outcome.page or "no answer"

    async def _page(self, http: httpx.AsyncClient, audience: Audience) -> str:
        """The HTML of the reply's text; asked for until it comes."""
        while True:
            with suppress(httpx.TransportError):
                page = await http.get(f"/c/{audience.conversation}/", headers=cookies(audience.reply.person))
                if found := re.search(ARTICLE.format(audience.run), page.text, re.DOTALL):
                    return found[1]
            await asyncio.sleep(1)
