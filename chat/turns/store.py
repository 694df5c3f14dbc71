"""Opening a turn: its messages, and the run that is to write the reply, stored in one transaction."""

import uuid
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext

from chat.db import write_lock
from chat.exceptions import Conflict, ConversationBusy, NotFound, RequestError
from chat.model_catalog.catalog import CurrentCatalogue, catalog_for_user
from chat.models import Conversation, Run, User
from chat.models.statements import insert, update
from chat.ownership.protocol import Lease
from chat.upstream.chat_request import ChatRequest

from .commands import SendMessage, Turn
from .planner import Plan, Planner, check_not_busy

CHANGED_BY_A_TURN = ("active_leaf_id", "updated", "model", "system", "parameters")
MAX_ATTEMPTS = 3  # to store a turn that others keep getting in the way of


class ConversationChanged(Exception):
    """The conversation is another than the one that was planned with."""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A stored turn. `ask` is None where the key had been used before: its run has been launched then."""

    run: Run
    request: ChatRequest | None


class TurnStore:
    """Stores turns for one process."""

    def __init__(self, lease: Lease[uuid.UUID], catalogue: CurrentCatalogue) -> None:
        self._lease = lease
        self._catalogue = catalogue

    def store(self, user: User, turn: Turn, *, queued: bool) -> StoredTurn:
        """Store the turn once, however often its key is sent.

        Raises NotFound, ConversationBusy, Conflict, BadRequest (unknown model) and PayloadTooLarge; then
        nothing is stored.
        """
        planner = Planner(catalog_for_user(self._catalogue.get(), user))
        for _ in range(MAX_ATTEMPTS):
            try:
                if isinstance(turn, SendMessage):
                    # Planned before: a long branch takes its time, in which nobody else could write.
                    plan = planner.plan(user, turn)
                    with write_lock(), transaction.atomic():
                        return self._save(user, turn, plan, queued)
                with write_lock(), transaction.atomic():
                    return self._save(user, turn, planner.plan(user, turn), queued)
            except (IntegrityError, RequestError, ConversationChanged) as error:
                # The same key was sent before; or somebody was faster with another turn in this
                # conversation, whose run may be over by now.
                if earlier := self.find(user, turn):
                    return earlier
                if isinstance(error, RequestError):
                    raise
                if isinstance(turn, SendMessage) and turn.conversation:
                    check_not_busy(turn.conversation)
        raise ConversationBusy(gettext("Too much is sent to this conversation at once. Try again."))

    def find(self, user: User, turn: Turn) -> StoredTurn | None:
        """The turn that this key made, if any. Raises Conflict where it was made of something else."""
        runs = Run.objects.select_related("message", "worker", "conversation")
        run = runs.filter(user=user, client_key=turn.client_key).first()
        if run is None:
            return None
        if run.conversation.deleted:
            raise NotFound(gettext("This conversation was deleted."))
        if run.fingerprint != turn.fingerprint:
            raise Conflict(gettext("This key was used for something else. Send it with a new one."))
        return StoredTurn(run, None)

    def _save(self, user: User, turn: Turn, plan: Plan, queued: bool) -> StoredTurn:
        conversation, reply, ask = plan.conversation, plan.reply, plan.request
        known = {
            "updated": conversation.updated,
            "active_leaf_id": conversation.active_leaf_id,
            "deleted": None,
        }
        # Each row is written once, whichever refers to which: foreign keys are checked at the commit.
        conversation.active_leaf = reply
        conversation.updated = now = timezone.now()
        if conversation._state.adding:
            insert(conversation)
        else:
            changes = {name: getattr(conversation, name) for name in CHANGED_BY_A_TURN}
            if not update(Conversation, changes, id=conversation.pk, **known):
                raise ConversationChanged
        if plan.added:
            insert(*plan.added)
        run = Run(
            user=user,
            conversation=conversation,
            message=reply,
            worker_id=self._lease.worker,
            epoch=self._lease.epoch,
            client_key=turn.client_key,
            fingerprint=turn.fingerprint,
            model=ask.model.id,
            max_tokens=ask.max_tokens,
            context_start=ask.context_start or reply.parent_id,
            parameters=ask.parameters,
            text_offset=len(reply.text),
            reasoning_offset=len(reply.reasoning),
            status=Run.Status.QUEUED if queued else Run.Status.RUNNING,
            started=None if queued else now,
        )
        insert(run)
        return StoredTurn(run, ask)
