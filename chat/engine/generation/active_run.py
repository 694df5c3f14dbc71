"""The runs that this process generates, with their progress towards the database."""

import uuid
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils import timezone

from chat.engine.outcome import RunOutcome
from chat.engine.streaming.run_state import RunState
from chat.models import Run
from chat.upstream.completion_stream import CompletionStream
from chat.upstream.gateway_log import NO_GATEWAY, GatewayLogRef

from .overlap import OverlapFilter


@dataclass(slots=True)
class ActiveRun:
    """A run that this process generates: its text, how much of it is stored, and its times.

    `saved_text` and `saved_reasoning` count the code points that a batch has taken (`Backlog`), confirmed by
    the database or not.
    """

    state: RunState
    run: Run
    overlap_filter: OverlapFilter
    reply: CompletionStream | None = None  # the latest upstream attempt
    saved_text: int = 0
    saved_reasoning: int = 0
    stored: tuple[int, int] = (0, 0)  # code points of text and reasoning that the database has confirmed
    started: datetime | None = None  # when it left the queue; None again once the row says so
    first_token: datetime | None = None
    first_text: datetime | None = None
    answered_by: str = ""  # the fallback model, if one answers
    fallback_reason: str = ""
    ending: RunOutcome | None = None
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
    def has_ended(self) -> bool:
        return self.ending is not None

    def set_queue_position(self, place: int) -> None:
        """Tell the viewers the place in the wait queue, and record the time at which the wait is over."""
        self.state.set_queue_position(place)
        if place == 0 and self.run.status == Run.Status.QUEUED:
            self.started = timezone.now()

    def mark_first_token(self, text: str) -> None:
        """Record the times of the first token and of the first token that is no reasoning."""
        if self.first_text is None:
            now = timezone.now()
            self.first_token = self.first_token or now
            self.first_text = now if text else None

    def note_attempt(self, reply: CompletionStream) -> None:
        self.reply = reply

    @property
    def gateway_log_ref(self) -> GatewayLogRef:
        """The entry in the gateway's log; a reply that was stopped or cut has one as well."""
        return self.reply.gateway_log_ref if self.reply else NO_GATEWAY

    def thinking_seconds(self, now: datetime) -> float | None:
        """Return the seconds from the first token to the first text, or to `now`; None without reasoning."""
        if not self.state.reasoning or self.first_token is None:
            return None
        return ((self.first_text or now) - self.first_token).total_seconds()

    def mark_started(self) -> None:
        """Take note that the row says that the run left the queue."""
        self.run.status, self.started = Run.Status.RUNNING, None

    def end(self, ending: RunOutcome) -> None:
        self.finished = now = timezone.now()
        seconds = max(0.0, (now - self.run.created).total_seconds())  # the clock may have been set back
        self.ending = replace(
            ending,
            seconds=seconds,
            thinking_seconds=self.thinking_seconds(now),
            gateway_log_ref=self.gateway_log_ref,
            answered_by=self.answered_by,
            fallback_reason=self.fallback_reason,
        )

    def outcome_columns(self) -> dict[str, Any]:
        """Return {column: value} of the outcome and the times; empty while the run is live."""
        if self.ending is None:
            return {}
        times = {"first_token": self.first_token, "first_text": self.first_text, "finished": self.finished}
        if self.started:
            times["started"] = self.started
        return self.ending.to_run_columns() | times
