"""The runs that this process generates, and the storage of their text and outcomes in batches."""

import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from chat.db.executor import is_connection_error, write_lock
from chat.engine.outcome import RunOutcome
from chat.engine.streaming.run_state import RunState
from chat.limits import (
    MAX_CITATION_TITLE_CHARS,
    MAX_CITATIONS,
    MAX_DATE_CHARS,
    MAX_PASSAGE_CHARS,
    MAX_URL_CHARS,
)
from chat.models import Citation, Run, RunChunk
from chat.models.run import RunOutcomeColumns
from chat.ownership.protocol import Batch, Texts
from chat.ownership.recovery import keep_longer
from chat.rendering.links import is_source_address
from chat.search import index
from chat.upstream.chat_request import ChatRequest, SentPart
from chat.upstream.completion_stream import CompletionStream
from chat.upstream.providers.ai_gateway import NO_GATEWAY, GatewayLogRef
from chat.wire.passages import passages
from chat.wire.text import OverlapFilter

if TYPE_CHECKING:
    from .tool_loop import ToolLoop

PARAGRAPH = "\n\n"

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class ActiveRun:
    """A run that this process generates: its text, how much of it is stored, and its times.

    All of these count code points: `batched_text` and `batched_reasoning` those that a batch has taken
    (`Backlog`), `stored` those of text and of reasoning that the database has confirmed.
    """

    state: RunState
    run: Run
    overlap_filter: OverlapFilter
    stream: CompletionStream | None = None  # of the latest upstream attempt, once it has ended
    batched_text: int = 0
    batched_reasoning: int = 0
    stored: tuple[int, int] = (0, 0)
    citations: tuple[Citation, ...] = ()  # of the passages that the model was given; not saved yet
    earlier: list[Citation] = field(default_factory=list)  # of the runs that this one continues
    given: list[Citation] = field(default_factory=list)  # of the parts of documents in the request
    found: list[Citation] = field(default_factory=list)  # by the tools that the model has called
    named: list[Citation] = field(default_factory=list)  # by the server: of AI Search and of the model
    citations_stored: bool = False
    tool_loop: "ToolLoop | None" = None
    started: datetime | None = None  # when it left the queue; None again once the row says so
    first_token: datetime | None = None
    first_text_at: datetime | None = None
    answered_by: str = ""  # the fallback model, if one answers
    fallback_reason: str = ""
    outcome: RunOutcome | None = None
    finished: datetime | None = None

    @property
    def id(self) -> uuid.UUID:
        return self.run.pk

    @property
    def text(self) -> str:
        return self.state.text

    @property
    def reasoning(self) -> str:
        return self.state.reasoning

    @property
    def unstored_citations(self) -> tuple[Citation, ...]:
        return () if self.citations_stored else self.citations

    @property
    def has_ended(self) -> bool:
        return self.outcome is not None

    def set_queue_position(self, place: int) -> None:
        """Tell the viewers the place in the wait queue, and record the time at which the wait is over."""
        self.state.set_queue_position(place)
        if place == 0 and self.run.status == Run.Status.QUEUED:
            self.started = timezone.now()

    def begin_paragraph(self) -> None:
        """Separate what the model writes after a call from what it wrote before."""
        if self.state.text and not self.state.text.endswith("\n"):
            self.state.append(PARAGRAPH)

    def mark_first_token(self, text: str) -> None:
        """Record the times of the first token and of the first token that is no reasoning."""
        if self.first_text_at is None:
            now = timezone.now()
            self.first_token = self.first_token or now
            self.first_text_at = now if text else None

    def note_passages(self, request: ChatRequest, stream: CompletionStream) -> None:
        """Make citations of the passages that the model was given, as far as they are known.

        Those are the parts of documents in the request, but no whole documents, what AI Search has found, and
        the pages that the model names; no more than a message can have.
        """
        self.given = self.part_citations(request)
        searched = [source_citation("", each.key, each.text) for each in passages(stream.decoder.chunks)]
        named = [source_citation(each.title, each.url, each.text) for each in stream.decoder.sources]
        self.named = [*searched, *named]
        self.note_citations()

    def part_citations(self, request: ChatRequest) -> list[Citation]:
        """Return citations of the parts of documents in the request."""
        return [_part_citation(part) for part in request.sent_parts if part.text]

    def note_citations(self) -> None:
        """Have all citations stored that are known by now. Those that are stored are not stored again."""
        citations = tuple([*self.given, *self.found, *self.named][:MAX_CITATIONS])
        self.state.sources = len({each.source for each in [*self.earlier, *citations]})
        if len(citations) > len(self.citations):
            self.citations, self.citations_stored = citations, False

    @property
    def gateway_log_ref(self) -> GatewayLogRef:
        """The entry in the gateway's log; a reply that was stopped or cut has one as well."""
        return self.stream.gateway_log_ref if self.stream else NO_GATEWAY

    def thinking_seconds(self, now: datetime) -> float | None:
        """Return the seconds from the first token to the first text, or to `now`; None without reasoning."""
        if not self.state.reasoning or self.first_token is None:
            return None
        return ((self.first_text_at or now) - self.first_token).total_seconds()

    def mark_started(self) -> None:
        """Record that the row's `started` is stored."""
        self.run.status, self.started = Run.Status.RUNNING, None

    def end(self, outcome: RunOutcome) -> None:
        self.finished = now = timezone.now()
        seconds = max(0.0, (now - self.run.created).total_seconds())  # the clock may have been set back
        self.outcome = replace(
            outcome,
            seconds=seconds,
            thinking_seconds=self.thinking_seconds(now),
            gateway_log_ref=self.gateway_log_ref,
            answered_by=self.answered_by,
            fallback_reason=self.fallback_reason,
            cited=self.run.cited + len(self.citations),
        )

    def outcome_columns(self) -> RunOutcomeColumns | None:
        """Return {column: value} of the outcome and the times; None while the run is live."""
        if self.outcome is None:
            return None
        columns: RunOutcomeColumns = {
            **self.outcome.to_run_columns(),
            "first_token": self.first_token,
            "first_text_at": self.first_text_at,
            "finished": self.finished,
        }
        if self.started:
            columns["started"] = self.started
        return columns


def source_citation(title: str, key: str, text: str, date: str = "") -> Citation:
    """Return a citation of a path or URL. Without a title, it is the end of that, which says the most."""
    is_link = len(key) <= MAX_URL_CHARS and is_source_address(key)
    if not title:
        title = key if len(key) <= MAX_CITATION_TITLE_CHARS else f"…{key[1 - MAX_CITATION_TITLE_CHARS :]}"
    return Citation(
        title=title[:MAX_CITATION_TITLE_CHARS],
        url=key if is_link else "",
        text=text[:MAX_PASSAGE_CHARS],
        date=date[:MAX_DATE_CHARS],
    )


def _part_citation(part: SentPart) -> Citation:
    return Citation(
        title=part.title[:MAX_CITATION_TITLE_CHARS],
        attachment_id=part.attachment,
        page=part.page,
        text=part.text[:MAX_PASSAGE_CHARS],
    )


@dataclass(slots=True)
class WriteResult:
    """The result of storing a batch. Runs are named by their ids.

    `outcomes` are those that the rows have, which may be another process's. `started`: the row now says that
    the run left the queue. `cited`: how many of its citations are stored. `stopped`: a stop was requested.
    `lost`: no longer a live run of this process.
    """

    outcomes: dict[uuid.UUID, RunOutcome]
    started: list[uuid.UUID]
    stopped: list[uuid.UUID]
    lost: list[uuid.UUID]
    cited: dict[uuid.UUID, int] = field(default_factory=dict)


def finish_runs(ended: Sequence[ActiveRun], worker: uuid.UUID) -> dict[uuid.UUID, RunOutcome]:
    """Store the outcomes and texts of runs, and index the texts. Return the outcomes that the rows have.

    Such an outcome is ours, or the one of a process that ended the run first: then our text is stored if it
    is longer.
    """
    outcomes = {active_run.id: _finish_run(active_run, worker) for active_run in ended}
    ours = (active_run for active_run in ended if outcomes[active_run.id] is active_run.outcome)
    index.add_replies((active_run.run, active_run.text) for active_run in ours)
    return outcomes


def finish_in_savepoints(ended: Sequence[ActiveRun], worker: uuid.UUID) -> dict[uuid.UUID, RunOutcome]:
    """Store each outcome in a savepoint. If the database refuses one, store it again without its details.

    The details are all but the status, code and message: usage, gateway, duration, fallback, citations.
    """
    outcomes: dict[uuid.UUID, RunOutcome] = {}
    for active_run in ended:
        try:
            with transaction.atomic():
                outcomes |= finish_runs([active_run], worker)
        except Exception as error:
            if is_connection_error(error):
                raise
            logger.exception("the outcome of run %s is stored without its details", active_run.id)
            assert active_run.outcome is not None
            active_run.citations = ()
            active_run.outcome = RunOutcome(
                active_run.outcome.status, code=active_run.outcome.code, message=active_run.outcome.message
            )
            with transaction.atomic():
                outcomes |= finish_runs([active_run], worker)
    return outcomes


def _finish_run(active_run: ActiveRun, worker: uuid.UUID) -> RunOutcome:
    assert active_run.outcome is not None
    has_chunks = bool(active_run.batched_text or active_run.batched_reasoning)
    text, reasoning = active_run.text, active_run.reasoning
    columns = active_run.outcome_columns()
    assert columns is not None
    if active_run.run.finish(text, reasoning, columns, worker=worker, has_chunks=has_chunks):
        _store_citations(active_run)
        return active_run.outcome
    keep_longer(active_run.id, Texts(text, reasoning))
    theirs = Run.objects.filter(pk=active_run.id).first()
    return RunOutcome.from_run(theirs) if theirs else RunOutcome(Run.Status.INTERRUPTED)


def save_batch(batch: Batch[ActiveRun], worker: uuid.UUID) -> WriteResult:
    """Store a batch. If the database refuses a row, store the outcomes one by one, to save the others."""
    try:
        return save(batch, worker)
    except Exception as error:
        if is_connection_error(error):
            raise  # an outage, not a refused row
        logger.exception("a batch was refused; its outcomes are stored one by one")
        return save(batch, worker, finish_in_savepoints)


def save(
    batch: Batch[ActiveRun],
    worker: uuid.UUID,
    finish: Callable[[Sequence[ActiveRun], uuid.UUID], dict[uuid.UUID, RunOutcome]] = finish_runs,
) -> WriteResult:
    """Write a batch in one transaction, and read the state of this process's rows.

    Text of a run that this process no longer owns (recovered, or deleted with its user) is left out.
    """
    with write_lock(), transaction.atomic():
        rows = _live_rows(worker) if batch.live else {}
        started = [active_run.id for active_run in batch.live if active_run.started and active_run.id in rows]
        if started:
            queued = Run.objects.filter(pk__in=started, status=Run.Status.QUEUED, worker_id=worker)
            queued.update(status=Run.Status.RUNNING, started=timezone.now())
        # A commit whose confirmation was lost is repeated with the same rows, which then exist already.
        if chunks := [
            RunChunk(run_id=chunk.run, kind=chunk.kind, start=chunk.start, text=chunk.text)
            for chunk in batch.chunks
            if chunk.run in rows
        ]:
            RunChunk.objects.bulk_create(chunks, ignore_conflicts=True)
        cited = {each.id: _store_citations(each) for each in batch.live if each.id in rows}
        outcomes = finish(batch.ended, worker)
    return WriteResult(
        outcomes,
        started,
        cited={run: number for run, number in cited.items() if number},
        stopped=[active_run.id for active_run in batch.live if rows.get(active_run.id)],
        lost=[active_run.id for active_run in batch.live if active_run.id not in rows],
    )


def _store_citations(active_run: ActiveRun) -> int:
    """Store the citations of a run, unless they are stored. Return how many; 0 if none was new."""
    if not (citations := active_run.unstored_citations):
        return 0
    Citation.objects.add(active_run.run.message_id, citations)
    Run.objects.filter(pk=active_run.id).update(cited=active_run.run.cited + len(citations))
    return len(citations)


def _live_rows(worker: uuid.UUID) -> dict[Any, bool]:
    """Return {id: stop requested} of this process's live runs."""
    return dict(Run.objects.live().filter(worker_id=worker).values_list("pk", "stop_requested"))
