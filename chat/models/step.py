"""Steps: the calls of tools in a run, each written before anybody is shown it."""

import json
import uuid
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from chat.limits import MAX_PERMISSION_CHARS, MAX_STEP_SUMMARY_CHARS, MAX_TOOL_NAME_CHARS

from .run import Run


class StepQuerySet(models.QuerySet["Step"]):
    def of_messages(
        self, messages: Iterable[uuid.UUID], *, with_results: bool = False
    ) -> dict[uuid.UUID, list["Step"]]:
        """Return the steps by message, those of all its runs, in their order. One query; none without.

        `with_results`: also what the model was sent, which nobody is shown and which may be long.
        """
        found: dict[uuid.UUID, list[Step]] = {}
        if wanted := list(messages):
            rows = self.filter(message__in=wanted).defer(*([] if with_results else ["result"]))
            for step in rows.order_by(F("run__created").asc(nulls_first=True), "run", "number"):
                found.setdefault(step.message_id, []).append(step)
        return found

    def store(self, step: Any, worker: uuid.UUID) -> bool:
        """Insert or update a step, if `worker` still owns its run; return whether it does.

        Call it in a transaction. It may be repeated.
        """
        if not Run.objects.owned().filter(pk=step.run_id, worker_id=worker).exists():
            return False
        self.bulk_create(
            [step], update_conflicts=True, unique_fields=["run", "number"], update_fields=CHANGING
        )
        return True

    def unanswered(self) -> "StepQuerySet":
        """Return the calls for which the person has to answer."""
        return self.filter(state=Step.State.WAITING, answer="")


# Without the answer, which is written by whoever takes it, not by the owner of the run.
CHANGING = ["revision", "state", "summary", "result", "sources", "cost", "created", "finished"]


class Step(models.Model):
    """One call of a tool.

    `number` counts from 1 within the run, `turn` its rounds: requests to the model, whose calls run at once.
    `revision` numbers the changes of all steps of the run, and so places a change in the stream. `call` is
    the id that the model gave the call. `result` is what the model was sent. `sources` are
    `{"number", "title", "url", "date"}`, the number being that of the message's citation. `text_offset` is
    the position in the message's text (code points) at which the call was made. `cost` is in US dollars; it
    counts as usage of `user`.

    `permission` names what a call asks for before it is made, such as a host that is to be read; "" if it
    asks for nothing. `answer` is the person's.

    A step that was copied or imported has no `run` and no `user`, because its cost must not count again. Its
    `number` counts within the message.

    The arguments come from a model, and the results from anybody: both are untrusted text.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        STOPPED = "stopped"

    class Answer(models.TextChoices):
        ONCE = "once"
        CONVERSATION = "conversation"
        DECLINED = "declined"

    run = models.ForeignKey("Run", models.CASCADE, null=True, related_name="steps", db_index=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        null=True,
        related_name="+",
        db_index=False,  # the partial index below begins with it
    )
    message = models.ForeignKey("Message", models.CASCADE, related_name="steps")
    number = models.PositiveSmallIntegerField()
    turn = models.PositiveSmallIntegerField()
    revision = models.PositiveSmallIntegerField()
    call = models.CharField(max_length=100)
    tool = models.CharField(max_length=MAX_TOOL_NAME_CHARS)
    arguments = models.JSONField(default=dict)
    state = models.CharField(max_length=7, choices=State.choices, default=State.RUNNING)
    summary = models.CharField(max_length=MAX_STEP_SUMMARY_CHARS, default="", blank=True)
    result = models.TextField(default="", blank=True)
    sources = models.JSONField(default=list, blank=True)
    text_offset = models.PositiveIntegerField(default=0)
    cost = models.FloatField(null=True, blank=True)
    permission = models.CharField(max_length=MAX_PERMISSION_CHARS, default="", db_default="", blank=True)
    answer = models.CharField(max_length=12, choices=Answer.choices, default="", db_default="", blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)
    finished = models.DateTimeField(null=True, blank=True)

    objects = StepQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="step_once_per_number")]
        indexes = [
            # These two cover the usage of a person and of the site.
            models.Index(
                fields=["user", "created", "tool", "cost"],
                condition=Q(user__isnull=False),
                name="step_usage",
            ),
            models.Index(
                fields=["created", "tool", "cost"],
                condition=Q(user__isnull=False, cost__isnull=False),
                name="step_cost",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.state}"

    @property
    def seconds(self) -> float | None:
        """Seconds that the call took; None until it has ended."""
        return (self.finished - self.created).total_seconds() if self.finished else None

    def copy(self, message: uuid.UUID, number: int, *, for_others: bool = False) -> "Step":
        """Return a new step of another message; it is not saved.

        `for_others`: without what the model was sent, and without the sources that are pages of this site.
        """
        return Step(
            message_id=message,
            number=number,
            turn=self.turn,
            revision=number,
            call=self.call,
            tool=self.tool,
            arguments=self.arguments,
            state=self.state,
            summary=self.summary,
            result="" if for_others else self.result,
            sources=self.public_sources if for_others else self.sources,
            text_offset=self.text_offset,
            cost=self.cost,
            created=self.created,
            finished=self.finished,
        )

    @property
    def written_arguments(self) -> str:
        return json.dumps(self.arguments, ensure_ascii=False)

    @property
    def public_sources(self) -> list[dict[str, Any]]:
        """The sources that others may see, too: no pages of this site, such as the owner's chats."""
        return [each for each in self.sources if not each["url"].startswith("/")]

    def payload(self) -> dict[str, Any]:
        """Return the step as the stream shows it."""
        return {
            "n": self.number,
            "tool": self.tool,
            "state": self.state,
            "arguments": self.arguments,
            "summary": self.summary,
            "sources": [{"title": each["title"], "url": each["url"]} for each in self.sources],
        }


def stop_unfinished(steps: Iterable[Step]) -> list[Step]:
    """Mark the steps that have not ended as stopped; return them.

    The same steps always get the same revisions.
    """
    every = sorted(steps, key=lambda step: step.number)
    revision = max((step.revision for step in every), default=0)
    running = [step for step in every if step.state in (Step.State.WAITING, Step.State.RUNNING)]
    for number, step in enumerate(running, revision + 1):
        step.state, step.revision, step.finished = Step.State.STOPPED, number, timezone.now()
    return running
