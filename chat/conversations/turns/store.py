"""Storage of a turn, in one transaction: its messages, and the run that writes the reply."""

import uuid
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.catalog.catalog import CurrentCatalog, catalog_for_user
from chat.conversations.tools.registry import still_offered
from chat.db.executor import write_lock
from chat.exceptions import Conflict, ConversationBusy, NotFound, RequestError
from chat.files.passages.best_passages import Ranked, RankingRequest
from chat.models import Conversation, Run, User
from chat.models.fast_sql import insert, update
from chat.ownership.protocol import Lease
from chat.search import index
from chat.search.words import Document
from chat.upstream.chat_request import ChatRequest

from . import attached
from .commands import Command
from .planner import Plan, Planner, check_not_busy

CHANGED_BY_A_TURN = ("active_leaf_id", "updated", "model", "system", "parameters", "tools", "archived_at")
# Not in the WHERE clause, because equal JSON can be written in several ways. Parameters that others set
# meanwhile are kept all the same: a turn writes only its own changes.
NOT_COMPARED = ("parameters", "tools")
UNREAD = object()
MAX_ATTEMPTS = 3  # to store a turn while other turns of its conversation interfere


class ConversationChanged(Exception):
    """The conversation has changed since the turn was planned."""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """The run of a stored turn. `request` is None if the client key was used before, and the run launched."""

    run: Run
    request: ChatRequest | None


class TurnStore:
    """Store turns whose runs this process will own."""

    def __init__(self, lease: Lease[uuid.UUID], catalog: CurrentCatalog) -> None:
        self._lease = lease
        self._catalog = catalog

    def store(
        self, user: User, command: Command, *, queued: bool, ranked: Ranked | None = None
    ) -> StoredTurn | RankingRequest:
        """Store the turn of a command, once for each client key. `queued`: its run begins in the queue.

        If its prompt needs a ranking of documents first, store nothing and return what is wanted; `ranked` is
        the result, for the next call. Raises NotFound, ConversationBusy, Conflict, BadRequest (model or
        attachment) and PayloadTooLarge; then nothing is stored.
        """
        planner = Planner(catalog_for_user(self._catalog.get(), user), ranked)
        try:
            for _attempt in range(MAX_ATTEMPTS):
                # Planned before locking: reading a long branch and its documents takes time, and would block
                # other writers.
                plan = planner.plan(user, command)
                if isinstance(plan.request, RankingRequest):
                    return self.find(user, command) or plan.request
                if stored := self._save(user, command, plan, plan.request, queued):
                    return stored
                if earlier := self.find(user, command):
                    return earlier
                check_not_busy(plan.conversation.pk)  # the faster turn's run may have ended by now
        except RequestError:
            # A key that was sent before is answered as then, whatever has become of its conversation.
            if earlier := self.find(user, command):
                return earlier
            raise
        raise ConversationBusy(_("Too many requests for this chat at once. Try again."))

    def find(self, user: User, command: Command) -> StoredTurn | None:
        """Return the turn stored under the command's client key, or None.

        Raises NotFound if its conversation or reply was deleted, Conflict if the key names another command.
        """
        runs = Run.objects.select_related("message", "worker", "conversation")
        if (run := runs.filter(user=user, client_key=command.client_key).first()) is None:
            return None
        if run.conversation.deleted:
            raise NotFound(_("This chat was deleted."))
        if run.message.deleted:
            raise NotFound(_("This reply was deleted."))
        if run.fingerprint != command.fingerprint:
            raise Conflict(_("This idempotency key was already used for another request. Use a new one."))
        return StoredTurn(run, None)

    def _save(
        self, user: User, command: Command, plan: Plan, request: ChatRequest, queued: bool
    ) -> StoredTurn | None:
        """Store the plan. Return None if another turn was faster: of this client key or conversation."""
        is_new = plan.conversation._state.adding
        try:
            # Foreign keys are checked at the commit, so rows that refer to each other are each written once.
            with write_lock(), transaction.atomic():
                _save_conversation(plan)
                if plan.added:
                    insert(*plan.added)
                    attached.save(plan.attachments, plan.added[0])
                    index.add(_index_documents(user, plan, with_title=is_new))
                run = self._run(user, command, plan, request, queued)
                insert(run)
        except (IntegrityError, ConversationChanged):
            return None
        return StoredTurn(run, request)

    def _run(self, user: User, command: Command, plan: Plan, request: ChatRequest, queued: bool) -> Run:
        reply = plan.reply
        return Run(
            user=user,
            conversation=plan.conversation,
            message=reply,
            worker_id=self._lease.worker,
            epoch=self._lease.epoch,
            client_key=command.client_key,
            fingerprint=command.fingerprint,
            model=request.model.id,
            max_tokens=request.max_tokens,
            context_start=request.context_start or reply.parent_id,
            parameters=request.parameters,
            tools=still_offered(plan.tools, user) if plan.tools else [],
            text_offset=len(reply.text),
            reasoning_offset=len(reply.reasoning),
            status=Run.Status.QUEUED if queued else Run.Status.RUNNING,
            started=None if queued else plan.conversation.updated,
        )


def _index_documents(user: User, plan: Plan, *, with_title: bool) -> list[Document]:
    titles = [index.title_of(plan.conversation)] if with_title else []
    return [*titles, *(index.message_of(message, user.pk) for message in plan.added)]


def _save_conversation(plan: Plan) -> None:
    """Insert or update the conversation. Raises ConversationChanged if it has changed since the plan."""
    conversation = plan.conversation
    # The key, not the object, which refers back: the cycle would keep both until a garbage collection.
    conversation.active_leaf_id = plan.reply.pk
    conversation.updated = timezone.now()
    conversation.archived_at = None  # a new turn takes the conversation out of the archive
    if conversation._state.adding:
        insert(conversation)
        return
    now = {name: getattr(conversation, name) for name in CHANGED_BY_A_TURN}
    changes = {name: value for name, value in now.items() if plan.as_read.get(name, UNREAD) != value}
    unchanged = {name: value for name, value in plan.as_read.items() if name not in NOT_COMPARED}
    if not update(Conversation, changes, id=conversation.pk, **unchanged):
        raise ConversationChanged
