"""Storage of a turn, in one transaction: its messages, and the run that writes the reply.

Also the selection of a message's version, and the deletion of a branch and its undo: they need the same lock.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext

from chat.catalog.catalog import CurrentCatalog, catalog_for_user
from chat.conversations.tools.registry import still_offered
from chat.db.executor import write_lock
from chat.exceptions import Conflict, ConversationBusy, NotFound, RequestError
from chat.files.passages.best_passages import Ranked, RankingRequest
from chat.models import Conversation, Message, Run, SharedLink, User
from chat.models.conversation import UNDELETE_MARGIN
from chat.models.fast_sql import insert, update
from chat.ownership.protocol import Lease
from chat.ownership.recovery import request_stop
from chat.search import index
from chat.search.words import Document
from chat.upstream.chat_request import ChatRequest

from . import attached
from .commands import Command
from .planner import Plan, Planner, check_not_busy, lock_conversation

CHANGED_BY_A_TURN = ("active_leaf_id", "updated", "model", "system", "parameters", "tools", "archived_at")
# Not in the WHERE clause, because equal JSON can be written in several ways. Parameters that others set
# meanwhile are kept all the same: a turn writes only its own changes.
NOT_COMPARED = ("parameters", "tools")
UNREAD = object()
MAX_ATTEMPTS = 3  # to store a turn while other turns of its conversation interfere
DELETED_IDS_PER_STATEMENT = 500


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
        """Store the turn of a command, once for each client key. `queued`: its run has to wait.

        If its prompt needs a ranking of documents first, store nothing and return what is wanted; `ranked` is
        the result, for the next call. Raises NotFound, ConversationBusy, Conflict, BadRequest (model or
        attachment) and PayloadTooLarge; then nothing is stored.
        """
        planner = Planner(catalog_for_user(self._catalog.get(), user), ranked)
        try:
            for _ in range(MAX_ATTEMPTS):
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
        raise ConversationBusy(gettext("Too many requests for this chat at once. Try again."))

    def find(self, user: User, command: Command) -> StoredTurn | None:
        """Return the turn stored under the command's client key, or None.

        Raises NotFound if its conversation was deleted, Conflict if the key was used for another command.
        """
        runs = Run.objects.select_related("message", "worker", "conversation")
        run = runs.filter(user=user, client_key=command.client_key).first()
        if run is None:
            return None
        if run.conversation.deleted or run.message.deleted:
            raise NotFound(gettext("This chat was deleted."))
        if run.fingerprint != command.fingerprint:
            raise Conflict(
                gettext("This idempotency key was already used for another request. Use a new one.")
            )
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


def select_version(user: User, message: uuid.UUID) -> Conversation:
    """Show the branch through `message`, down to the leaf that was selected or written last.

    Return the conversation. Raises NotFound and ConversationBusy; then nothing has changed.
    """
    with write_lock(), transaction.atomic():
        conversation = lock_conversation(user, message)
        check_not_busy(conversation.pk)
        Message.objects.filter(pk=message).update(selected_at=timezone.now())
        conversation.active_leaf_id = Message.objects.active_leaf_below(message)
        conversation.save(update_fields=["active_leaf"])
        return conversation


@dataclass(frozen=True, slots=True)
class DeletedBranch:
    """The result of a deletion: the new active leaf, and the live runs that the caller has to stop."""

    conversation: uuid.UUID
    leaf: uuid.UUID | None
    runs: list[Run]


def delete_branch(user: User, message: uuid.UUID) -> DeletedBranch:
    """Delete a message, all messages below it, and the shared links to them. Raises NotFound.

    If the active branch is deleted, show the version beside the message, or the branch up to its parent.
    """
    with write_lock(), transaction.atomic():
        conversation = lock_conversation(user, message)
        top = conversation.messages.get(pk=message)
        keys = Message.objects.below(message, deleted=None)
        _mark(keys, timezone.now())
        _end_links(keys)
        runs = request_stop(Run.objects.filter(conversation=conversation, message__deleted__isnull=False))
        if conversation.active_leaf_id in set(keys):
            conversation.active_leaf_id = _leaf_beside(conversation, top)
        _save(conversation)
        return DeletedBranch(conversation.pk, conversation.active_leaf_id, runs)


def restore_branch(user: User, message: uuid.UUID) -> Conversation:
    """Undo `delete_branch`, and show the branch again unless a reply is being written in another one.

    A message that is not deleted stays unchanged. Raises NotFound, also if the message above it is deleted.
    """
    with write_lock(), transaction.atomic():
        found = Conversation.objects.owned_by(user).filter(messages=message)
        conversation = found.select_for_update(of=("self",), no_key=True).first()
        if conversation is None:
            raise NotFound(gettext("This message doesn’t exist."))
        top = conversation.messages.select_related("parent").get(pk=message)
        if top.deleted is None:
            return conversation
        if not _is_recoverable(top):
            raise NotFound(gettext("This message doesn’t exist."))
        _mark(Message.objects.below(message, deleted=top.deleted), None)
        if not Run.objects.live().filter(conversation=conversation).exists():
            Message.objects.filter(pk=message).update(selected_at=timezone.now())
            conversation.active_leaf_id = Message.objects.active_leaf_below(message)
        _save(conversation)
        return conversation


def recoverable(conversation: Conversation, message: uuid.UUID) -> Message | None:
    """Return the message of this conversation if its deletion can be undone, otherwise None."""
    found = conversation.messages.filter(pk=message).select_related("parent").first()
    return found if found and found.deleted and _is_recoverable(found) else None


def _is_recoverable(message: Message) -> bool:
    """Return True if its parent exists and pruning is not due within UNDELETE_MARGIN."""
    if message.parent and message.parent.deleted:
        return False
    days = settings.KEEP_DELETED_DAYS
    assert message.deleted
    return not days or message.deleted > timezone.now() - timedelta(days=days) + UNDELETE_MARGIN


def _mark(keys: list[uuid.UUID], deleted: datetime | None) -> None:
    for start in range(0, len(keys), DELETED_IDS_PER_STATEMENT):
        Message.objects.filter(pk__in=keys[start : start + DELETED_IDS_PER_STATEMENT]).update(deleted=deleted)


def _end_links(keys: list[uuid.UUID]) -> None:
    for start in range(0, len(keys), DELETED_IDS_PER_STATEMENT):
        SharedLink.objects.filter(leaf__in=keys[start : start + DELETED_IDS_PER_STATEMENT]).delete()


def _leaf_beside(conversation: Conversation, top: Message) -> uuid.UUID | None:
    """Return the leaf below the version of `top` that was selected or written last, else its parent."""
    versions = Message.objects.filter(conversation=conversation, parent=top.parent_id, deleted=None)
    chosen = versions.order_by(Coalesce("selected_at", "created").desc(), "-pk")
    other = chosen.values_list("pk", flat=True).first()
    return Message.objects.active_leaf_below(other) if other else top.parent_id


def _save(conversation: Conversation) -> None:
    Conversation.objects.filter(pk=conversation.pk).change(active_leaf=conversation.active_leaf_id)
