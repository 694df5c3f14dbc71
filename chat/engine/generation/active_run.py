"""The runs that this process generates."""

import uuid
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils import timezone

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
from chat.models.run import REASONING, TEXT, RunOutcomeColumns
from chat.rendering.links import is_source_address
from chat.upstream.chat_request import ChatRequest, SentPart
from chat.upstream.completion_stream import CompletionStream
from chat.upstream.providers.ai_gateway import NO_GATEWAY, GatewayLogRef
from chat.wire.passages import passages
from chat.wire.text import OverlapFilter

if TYPE_CHECKING:
    from .tool_loop import ToolLoop

PARAGRAPH = "\n\n"


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
    citations_before: list[Citation] = field(default_factory=list)  # of the message, as a tool loop began
    given: list[Citation] = field(default_factory=list)  # of the parts of documents in the request
    found: list[Citation] = field(default_factory=list)  # by the tools that the model has called
    named: list[Citation] = field(default_factory=list)  # by the server: of AI Search and of the model
    citations_stored: bool = False
    suspended: dict[str, Any] | None = None  # see `Run`; set if the run is to wait
    tool_loop: "ToolLoop | None" = None
    started: datetime | None = None  # when it left the queue; None again once the row says so
    first_token: datetime | None = None
    first_text_at: datetime | None = None
    answered_by: str = ""  # the fallback model, if one answers
    fallback_reason: str = ""
    outcome: RunOutcome | None = None
    finished: datetime | None = None

    @classmethod
    def of(cls, run: Run, state: RunState) -> "ActiveRun":
        """Return the run from its row and its stored text, which it has if it has waited."""
        stored = state.end.text, state.end.reasoning
        overlap_filter = OverlapFilter("" if state.text else state.info.earlier_text)
        active_run = cls(state, run, overlap_filter, stored=stored, first_token=run.first_token)
        active_run.batched_text, active_run.batched_reasoning = stored
        active_run.first_text_at = run.first_text_at
        active_run.answered_by, active_run.fallback_reason = run.answered_by, run.fallback_reason
        return active_run

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
        """True if it has ended here: it is over, or waits for the person."""
        return self.outcome is not None

    @property
    def is_waiting(self) -> bool:
        return self.outcome is not None and self.outcome.status == Run.Status.WAITING

    def set_queue_position(self, place: int) -> None:
        """Tell the viewers the place in the wait queue, and record the time at which the wait is over."""
        self.state.set_queue_position(place)
        if place == 0 and self.run.status == Run.Status.QUEUED:
            self.started = timezone.now()

    def begin_paragraph(self) -> None:
        """Separate what the model writes after a call from what it wrote before, except rows of a table."""
        text = self.state.text
        has_row = text.endswith("\n") and text.startswith("|", text.rfind("\n", 0, -1) + 1)
        if text and not text.endswith(PARAGRAPH) and not has_row:
            self.state.append(PARAGRAPH[text.endswith("\n") :])

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
        # Those that it had before it waited are counted.
        counted = {each.identity for each in self.citations_before} if self.run.suspended else ()
        found = [each for each in [*self.given, *self.found, *self.named] if each.identity not in counted]
        citations = tuple(found[:MAX_CITATIONS])
        self.state.sources = len({each.source for each in [*self.citations_before, *citations]})
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
        # At least 0, because the clock may have been set back.
        seconds = max(0.0, (now - self.run.created).total_seconds() - self.run.waited_seconds)
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
        """Return {column: value} of the outcome and the times; None while the run is live or is to wait."""
        if self.outcome is None or self.is_waiting:
            return None
        return {**self._result_columns(self.outcome), "finished": self.finished}

    def release_columns(self) -> dict[str, Any]:
        """Return {column: value} of a run that is to wait."""
        assert self.outcome is not None
        columns = self._result_columns(self.outcome)
        return {**columns, "suspended": self.suspended, "worker_id": None}

    def unbatched(self) -> list[RunChunk]:
        """Return the chunks of the text that no batch has taken; they are not saved."""
        rest = (TEXT, self.batched_text, self.text), (REASONING, self.batched_reasoning, self.reasoning)
        return [
            RunChunk(run_id=self.id, kind=kind, start=start, text=text[start:])
            for kind, start, text in rest
            if text[start:]
        ]

    def _result_columns(self, outcome: RunOutcome) -> RunOutcomeColumns:
        columns: RunOutcomeColumns = {
            **outcome.to_run_columns(),
            "first_token": self.first_token,
            "first_text_at": self.first_text_at,
        }
        if self.started and not self.run.started:  # it has one if it waited for the person since
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
