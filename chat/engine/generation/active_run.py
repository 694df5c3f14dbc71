"""The runs that this process generates, and how much of each is stored."""

import uuid
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils import timezone

from chat.engine.outcome import RunOutcome
from chat.engine.streaming.run_state import RunState
from chat.limits import MAX_CITATION_TITLE_CHARS, MAX_CITATIONS, MAX_PASSAGE_CHARS, MAX_URL_CHARS
from chat.models import Citation, Run
from chat.models.run import RunOutcomeColumns
from chat.rendering.links import is_web_address
from chat.upstream.chat_request import ChatRequest, SentPart
from chat.upstream.completion_stream import CompletionStream
from chat.upstream.gateway_log import NO_GATEWAY, GatewayLogRef
from chat.wire.passages import passages
from chat.wire.text import OverlapFilter


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
    citations_stored: bool = False
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
        parts = [_part_citation(part) for part in request.sent_parts if part.text]
        found = [_citation(passage.key, passage.text) for passage in passages(stream.chunks)]
        named = [_citation(source.url, source.text, source.title) for source in stream.sources]
        citations = tuple([*parts, *found, *named][:MAX_CITATIONS])
        if len(citations) > len(self.citations):  # those that are stored are not stored again
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


def _citation(key: str, text: str, title: str = "") -> Citation:
    """Return a citation. Without a title, it is its path's or URL's end, which says the most."""
    is_link = len(key) <= MAX_URL_CHARS and is_web_address(key)
    if not title:
        title = key if len(key) <= MAX_CITATION_TITLE_CHARS else f"…{key[1 - MAX_CITATION_TITLE_CHARS :]}"
    return Citation(
        title=title[:MAX_CITATION_TITLE_CHARS],
        url=key if is_link else "",
        text=text[:MAX_PASSAGE_CHARS],
    )


def _part_citation(part: SentPart) -> Citation:
    return Citation(
        title=part.title[:MAX_CITATION_TITLE_CHARS],
        attachment_id=part.attachment,
        page=part.page,
        text=part.text[:MAX_PASSAGE_CHARS],
    )
