"""A run that this process generates: its text, how much of it is stored, and its times."""

import uuid
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils import timezone

from chat.engine.outcome import Ending
from chat.engine.streaming.run_state import Live
from chat.models import Run
from chat.upstream.completion_stream import CompletionStream
from chat.upstream.gateway_log import NOWHERE, Passage

from .overlap import Seam


@dataclass(slots=True)
class Draft:
    """A live run of this process and how much of it is stored."""

    live: Live
    run: Run
    seam: Seam
    reply: CompletionStream | None = None  # of the latest request for it
    saved_text: int = 0
    saved_reasoning: int = 0
    stored: tuple[int, int] = (0, 0)  # of the text and the reasoning, as the database has confirmed
    began: datetime | None = None  # when it left the queue, as long as the row does not say so
    first_token: datetime | None = None
    first_text: datetime | None = None
    answered_by: str = ""  # where it is not the model that was asked
    because: str = ""
    ending: Ending | None = None
    finished: datetime | None = None

    @property
    def id(self) -> uuid.UUID:
        return self.run.pk

    @property
    def text(self) -> str:
        return self.live.text

    @property
    def reasoning(self) -> str:
        return self.live.reasoning

    @property
    def has_ended(self) -> bool:
        return self.ending is not None

    def wait_at(self, place: int) -> None:
        """Note when the wait is over, and have the viewers told of it."""
        self.live.wait_at(place)
        if place == 0 and self.run.status == Run.Status.QUEUED:
            self.began = timezone.now()

    def hear(self, text: str) -> None:
        """Note when the first token came, and when the first that is no reasoning."""
        if self.first_text is None:
            now = timezone.now()
            self.first_token = self.first_token or now
            self.first_text = now if text else None

    def note_attempt(self, reply: CompletionStream) -> None:
        self.reply = reply

    @property
    def passage(self) -> Passage:
        """Also of a reply that was stopped or cut: its log has an entry as well."""
        return self.reply.passage if self.reply else NOWHERE

    def thought_for(self, now: datetime) -> float | None:
        """Seconds of reasoning, None where there was none."""
        if not self.live.reasoning or self.first_token is None:
            return None
        return ((self.first_text or now) - self.first_token).total_seconds()

    def begun(self) -> None:
        """The row says that it left the queue."""
        self.run.status, self.began = Run.Status.RUNNING, None

    def end(self, ending: Ending) -> None:
        self.finished = now = timezone.now()
        seconds = max(0.0, (now - self.run.created).total_seconds())  # the clock may have been set back
        self.ending = replace(
            ending,
            seconds=seconds,
            thinking_seconds=self.thought_for(now),
            passage=self.passage,
            answered_by=self.answered_by,
            because=self.because,
        )

    def outcome(self) -> dict[str, Any]:
        """The columns of its ending; none while it goes on."""
        if self.ending is None:
            return {}
        times = {"first_token": self.first_token, "first_text": self.first_text, "finished": self.finished}
        if self.began:
            times["started"] = self.began
        return self.ending.columns_of_run() | times
