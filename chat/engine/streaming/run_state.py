"""A run in memory: its facts, its growing text, its problems. Viewers are shown it, the writer stores it."""

import asyncio
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from django.utils.translation import gettext, gettext_noop

from chat.engine.outcome import RunOutcome
from chat.models import Message, Run, Step
from chat.models.step import stop_unfinished
from chat.wire import sse
from chat.wire.position import Position

WAITING_IN_QUEUE = gettext_noop("Waiting in the queue at position %(place)s.")
NOT_SAVED = gettext_noop("The reply can’t be saved right now. The server keeps trying.")
PAUSED = gettext_noop("The reply is paused until it can be saved. The server keeps trying.")


@dataclass(frozen=True, slots=True)
class RunInfo:
    """The facts of a run that a stream states first (`event: meta`), and facts for the feeds.

    `earlier_text` is what the message had before this run; not empty if the run continues a reply.
    `created` is the time of the message.
    """

    run: uuid.UUID
    conversation: uuid.UUID
    message: uuid.UUID
    user_message: uuid.UUID
    model: str
    earlier_text: str = ""
    user: int = 0  # the id of the run's user
    created: datetime | None = None

    @classmethod
    def of(cls, run: Run) -> "RunInfo":
        """Return the facts of `run`, whose message is loaded."""
        message: Message = run.message
        assert message.parent_id is not None
        ids = run.pk, run.conversation_id, run.message_id, message.parent_id
        model, earlier_text = run.answered_by or run.model, message.text[: run.text_offset]
        return cls(*ids, model, earlier_text, run.user_id, message.created)

    def frame(self, **more: object) -> bytes:
        payload = {
            "response": "",
            "v": 1,
            "conversation": str(self.conversation),
            "message": str(self.message),
            "user_message": str(self.user_message),
            "run": str(self.run),
            "model": self.model,
            **more,
        }
        return sse.encode(sse.dumps(payload), event="meta")


class Listener(Protocol):
    """A feed, as its run knows it: it is told of each change, on behalf of its viewers."""

    viewers: int
    last_wake: float  # on the event loop's clock

    def schedule(self) -> None:
        """Note that the text has grown."""

    def reset(self) -> None:
        """Start again: the text was replaced, not only extended."""

    def steps_changed(self) -> None:
        """Note that a step was added or has changed."""

    def finish(self) -> None:
        """Note that the run has an outcome."""

    def wake(self) -> None:
        """Wake every viewer at once."""


class RunState:
    """The text, the reasoning and the steps of one run. Feeds listen to it on behalf of their viewers.

    This process generates it, or it is a copy (`RemoteRuns`): of a run of another process, or of one that has
    ended or waits. It may become the one or the other while viewers watch. Both texts only grow, except by
    `replace`, which a copy needs after the owner process has crashed. Steps are shown as they are stored.
    `revision` is that of the latest change of a step.
    """

    def __init__(self, info: RunInfo) -> None:
        self.info = info
        self.text = ""
        self.reasoning = ""
        self.steps: dict[int, Step] = {}  # by number
        self.earlier_steps: Sequence[Step] = ()  # of the runs that this one continues
        self.revision = 0
        self.sources = 0  # that the text can cite
        self.outcome: RunOutcome | None = None
        self.listeners: list[Listener] = []
        self.queue_position = 0  # in the wait queue, from 1; 0: in none
        # Counters: each viewer compares them with those that it has sent.
        self.problem_count = 0
        self.ping_count = 0
        self._problem: dict[str, object] = {}  # the latest
        self._unsaved = ""  # the warning shown to viewers that the text cannot be stored

    @property
    def end(self) -> Position:
        """The end of both texts; the steps are counted apart, by `revision`."""
        return Position(len(self.text), len(self.reasoning))

    def frame_id(self, at: Position, steps: int | None = None) -> str:
        """Return the id of a frame that ends at `at`, for viewers who have these changes of steps, or all."""
        return str(at._replace(steps=self.revision if steps is None else steps))

    @property
    def viewers(self) -> int:
        return sum(listener.viewers for listener in self.listeners)

    def append(self, text: str, reasoning: str = "") -> None:
        if not (text or reasoning):
            return  # nothing to render and to wake viewers for
        self.text += text
        self.reasoning += reasoning
        for listener in self.listeners:
            listener.schedule()

    def apply(self, at: Position, text: str, reasoning: str) -> bool:
        """Append the new part of texts that begin at `at`. Return False if text before `at` is missing."""
        if at.text > len(self.text) or at.reasoning > len(self.reasoning):
            return False
        text, reasoning = text[len(self.text) - at.text :], reasoning[len(self.reasoning) - at.reasoning :]
        self.append(text, reasoning)
        return True

    def replace(self, text: str, reasoning: str) -> None:
        """Take over the database's text, which may be shorter than what a dead owner process had sent."""
        if (text, reasoning) != (self.text, self.reasoning):
            self.text, self.reasoning = text, reasoning
            for listener in self.listeners:
                listener.reset()

    def show_steps(self, steps: Iterable[Step]) -> None:
        """Show the steps that have changed; they are stored already."""
        changed = {step.number: step for step in steps if step.revision > self.revision}
        if changed:
            self.steps |= changed
            self.revision = max(step.revision for step in changed.values())
            for listener in self.listeners:
                listener.steps_changed()

    def next_step(self, revision: int) -> Step:
        """Return the step whose last change is the first one after `revision`; there is one."""
        later = (step for step in self.steps.values() if step.revision > revision)
        return min(later, key=lambda step: step.revision)

    def finish(self, outcome: RunOutcome) -> None:
        """Announce an outcome, which is stored already, as are the ends of the steps that it stopped."""
        if self.steps:
            self.show_steps(stop_unfinished(self.steps.values()))
        self.outcome = outcome
        for listener in self.listeners:
            listener.finish()

    def notify_problem(self, code: str, message: str, **more: object) -> None:
        """Send a `problem` event once to each current viewer; the run goes on."""
        self._problem = {"response": "", "code": code, "message": message, "retryable": True, **more}
        self.problem_count += 1
        self.wake_viewers()

    @property
    def has_current_problem(self) -> bool:
        """True while the run is queued or cannot be stored, of which new viewers are told as well."""
        return bool(self.queue_position or self._unsaved)

    def tell_unsaved(self, *, paused: bool) -> None:
        """Warn viewers that the text cannot be stored at the moment; `tell_saved` withdraws it."""
        sentence = PAUSED if paused else NOT_SAVED
        if sentence != self._unsaved:
            self._unsaved = sentence
            self.notify_problem("not_saved", sentence)

    def tell_saved(self) -> None:
        """Withdraw the warning of `tell_unsaved`, by an empty message."""
        if self._unsaved:
            self._unsaved = ""
            self.notify_problem("not_saved", "")

    def set_queue_position(self, place: int) -> None:
        """Tell viewers the run's place in the wait queue; 0, when it waits no more, withdraws the notice."""
        if place != self.queue_position:
            self.queue_position = place
            self.notify_problem("waiting", WAITING_IN_QUEUE if place else "", place=place)

    def set_fallback_model(self, model: str, sentence: str, /, **names: str) -> None:
        """Tell viewers that the fallback `model` answers. `sentence`, formatted with `names`, says why."""
        self.info = replace(self.info, model=model)
        self.notify_problem("fallback", sentence, answered_by=model, **names)

    def problem(self) -> bytes:
        """Return the latest problem as an SSE event, in the active language."""
        message = str(self._problem["message"])
        payload = self._problem | {"message": gettext(message) % self._problem if message else ""}
        return sse.encode(sse.dumps(payload), event="problem")

    def ping(self, silence: float) -> None:
        """Make the viewers send an SSE comment if no feed has woken them for `silence` seconds."""
        last = max((listener.last_wake for listener in self.listeners), default=0.0)
        if asyncio.get_running_loop().time() - last >= silence:
            self.ping_count += 1
            self.wake_viewers()

    def close(self) -> None:
        """Drop the feeds, which refer back: the cycle would keep the text until a garbage collection."""
        self.listeners.clear()

    def wake_viewers(self) -> None:
        """Wake every viewer at once."""
        for listener in self.listeners:
            listener.wake()
