"""The database's side of a tool loop: what it begins with, and its steps as they change."""

import asyncio
import uuid
from collections.abc import Collection
from copy import copy
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from chat.conversations.tools import addresses
from chat.db.background import FailureLog, spawn
from chat.db.executor import is_connection_error, run_in_db, write_lock
from chat.engine.streaming.run_state import RunState
from chat.models import Citation, Conversation, Message, Run, Step

STORE_RETRY_SECONDS = 0.4
MAX_QUESTIONS = 50  # of the conversation, in whose texts addresses are looked for
MAX_CITED = 500  # addresses of the conversation's latest sources
STORED_TOGETHER = timedelta(seconds=1)  # a question and its first reply


@dataclass(frozen=True, slots=True)
class Past:
    """The database's knowledge at the start.

    `known` are the addresses that may be read without asking, `allowed` the keys of the permissions that the
    person has given for the conversation, `citations` those of the message. `steps` are those of the run,
    which has some if it has waited, and `earlier_steps` those of the runs that it continues.
    """

    known: set[str]
    allowed: set[str]
    citations: list[Citation]
    steps: list[Step]
    earlier_steps: list[Step]


def read_past(run: Run) -> Past:
    conversation, message = run.conversation_id, run.message_id
    every = Step.objects.of_messages([message], with_results=True).get(message, [])
    steps = [step for step in every if step.run_id == run.pk]
    return Past(
        _known(conversation),
        set(Conversation.objects.values_list("allowed_calls", flat=True).get(pk=conversation)),
        list(Citation.objects.filter(message=message).order_by("number")),
        steps,
        [step for step in every if step.run_id != run.pk],
    )


def _known(conversation: uuid.UUID) -> set[str]:
    """Return the addresses that count: only those that were written or found here, by a message with a run.

    An import or a copy of others' messages has none, and could name addresses that carry words out. A
    question of it that is answered again has one: it is older than the reply.
    """
    runs = Run.objects.filter(message=OuterRef("pk"))
    at_once = Q(created__lt=OuterRef("created") + STORED_TOGETHER)
    replies = Message.objects.filter(at_once, Exists(runs), parent=OuterRef("pk"))
    asked = Message.objects.filter(Exists(replies), conversation=conversation, role=Message.Role.USER)
    texts = asked.filter(deleted=None).order_by("-created").values_list("text", flat=True)
    answered = Message.objects.filter(Exists(runs), conversation=conversation, deleted=None)
    cited = Citation.objects.filter(message__in=answered).exclude(url="").order_by("-message__created")
    written = {url for text in texts[:MAX_QUESTIONS] for url in addresses.written_in(text)}
    return {*written, *cited.values_list("url", flat=True)[:MAX_CITED]}


class StepStore:
    """Stores the steps of one run in the order of their changes, and shows each change once it is stored."""

    def __init__(self, state: RunState, worker: uuid.UUID) -> None:
        self._state = state
        self._worker = worker
        self._revision = 0
        self._storing = asyncio.Lock()
        self._log = FailureLog("storing a step")

    def go_on_after(self, steps: Collection[Step]) -> None:
        """Go on after the changes of these steps, which are stored."""
        self._revision = max((step.revision for step in steps), default=0)

    async def show(self, step: Step) -> bool:
        """Store a step that has changed, then show it. While the database is away, wait for it.

        Return False if the run is not ours any more.
        """
        # Shielded, because what is stored has to be shown.
        return await asyncio.shield(spawn(self._store_and_show(step), "step"))

    async def _store_and_show(self, step: Step) -> bool:
        async with self._storing:  # in the order of the revisions: a viewer gets no change after a later one
            self._revision += 1
            step.revision = self._revision
            changed = copy(step)  # the step goes on to change
            if is_ours := await self._stored(changed):
                self._state.show_steps([changed])
        return is_ours

    async def _stored(self, step: Step) -> bool:
        """Store a step, as soon as the database is there. Return False if the run is not ours any more."""
        while True:
            try:
                is_ours = await run_in_db(_store, step, self._worker)
            except Exception as error:
                if not is_connection_error(error):
                    raise
                self._log.failed(error)
                await asyncio.sleep(STORE_RETRY_SECONDS)
            else:
                self._log.succeeded()
                return is_ours


def _store(step: Step, worker: uuid.UUID) -> bool:
    with write_lock(), transaction.atomic():
        return Step.objects.store(step, worker)
