"""Store a turn, in one transaction: its messages, and the run that is to write the reply."""

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
MAX_ATTEMPTS = 3  # to store a turn while other turns of its conversation interfere


class ConversationChanged(Exception):
    """The conversation has changed since the turn was planned."""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A stored turn. `request` is None if its client key was used before: the run was launched then."""

    run: Run
    request: ChatRequest | None


class TurnStore:
    """Store turns whose runs this process will own."""

    def __init__(self, lease: Lease[uuid.UUID], catalogue: CurrentCatalogue) -> None:
        self._lease = lease
        self._catalogue = catalogue

    def store(self, user: User, turn: Turn, *, queued: bool) -> StoredTurn:
        """Store the turn once, however often its key is sent. `queued`: the run has to wait.

        Raises NotFound, ConversationBusy, Conflict, BadRequest (unknown model) and PayloadTooLarge; then
        nothing is stored.
        """
        planner = Planner(catalog_for_user(self._catalogue.get(), user))
        for _ in range(MAX_ATTEMPTS):
            try:
                if isinstance(turn, SendMessage):
                    # Planned before locking: reading a long branch takes time, and would block other writers.
                    plan = planner.plan(user, turn)
                    with write_lock(), transaction.atomic():
                        return self._save(user, turn, plan, queued)
                with write_lock(), transaction.atomic():
                    return self._save(user, turn, planner.plan(user, turn), queued)
            except (IntegrityError, RequestError, ConversationChanged) as error:
                # Either the same key was sent before, or another turn of this conversation was faster; its
                # run may have ended by now.
                if earlier := self.find(user, turn):
                    return earlier
                if isinstance(error, RequestError):
                    raise
                if isinstance(turn, SendMessage) and turn.conversation:
                    check_not_busy(turn.conversation)
        raise ConversationBusy(gettext("Too much is sent to this conversation at once. Try again."))

    def find(self, user: User, turn: Turn) -> StoredTurn | None:
        """Return the turn stored under the same client key, or None.

        Raises NotFound if its conversation was deleted, Conflict if the key was used for another command.
        """
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
        # Rows that refer to each other are written once each: foreign keys are checked at the commit.
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
