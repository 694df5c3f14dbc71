"""A turn: a question, the empty reply to it, and the run that is to fill it, stored in one transaction."""

import hashlib
import uuid
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from chat.models import Conversation, Message, Run, User
from chat.models.conversation import title_from
from chat.upstream import budget
from chat.upstream.catalogue import Catalogue, Model, UnknownModel
from chat.upstream.errors import UpstreamError
from chat.wire import sse

from .database import writing
from .live import About
from .mirror import about
from .refusal import Busy, Conflict, Malformed, Missing, Refusal, TooLong
from .supervisor import Prompt

LEAF = "leaf"  # the parent of a turn that names none: where the conversation stands
ATTEMPTS = 3  # to store a turn that others keep getting in the way of
LONGEST_PATH = 4_000  # messages looked at for a prompt; more fit into no window


@dataclass(frozen=True, slots=True)
class Question:
    """What a person sends. `conversation` None begins one; `parent` None begins it anew.

    `model` and `system` None mean: as before.
    """

    content: str
    client_key: uuid.UUID
    conversation: uuid.UUID | None = None
    parent: uuid.UUID | str | None = LEAF
    model: str | None = None
    system: str | None = None

    @property
    def fingerprint(self) -> str:
        """What must be the same for a key to mean the same send."""
        sent: list[Any] = ["send", self.conversation, self.content, self.parent, self.model, self.system]
        return hashlib.sha256(sse.dumps([v if v is None else str(v) for v in sent]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Opened:
    """A stored turn. `prompt` is None where the key had been used before: its run has been launched then."""

    run: Run
    about: About
    prompt: Prompt | None


@dataclass(frozen=True, slots=True)
class Opener:
    """Stores turns for one process."""

    worker: uuid.UUID
    catalogue: Catalogue

    def open(self, user: User, question: Question, *, queued: bool) -> Opened:
        """Store the turn once, however often its key is sent.

        Raises Missing, Busy, Conflict, Malformed (unknown model) and TooLong; then nothing is stored.
        """
        for _ in range(ATTEMPTS):
            try:
                with writing(), transaction.atomic():
                    return self._store(user, question, queued)
            except (IntegrityError, Refusal) as error:
                # The same key was sent before; or somebody was faster with another turn in this
                # conversation, whose run may be over by now.
                if earlier := self.find(user, question):
                    return earlier
                if isinstance(error, Refusal):
                    raise
                if question.conversation:
                    _refuse_where_busy(question.conversation)
        raise Busy("Too much is sent to this conversation at once. Try again.")

    def find(self, user: User, question: Question) -> Opened | None:
        """The turn that this key made, if any. Raises Conflict where it was made of something else."""
        runs = Run.objects.select_related("message", "worker", "conversation")
        run = runs.filter(user=user, client_key=question.client_key).first()
        if run is None:
            return None
        if run.conversation.deleted:
            raise Missing("This conversation was deleted.")
        if run.fingerprint != question.fingerprint:
            raise Conflict("This key was used for another message. Send it with a new one.")
        return Opened(run, about(run), None)

    def _store(self, user: User, question: Question, queued: bool) -> Opened:
        conversation = self._conversation(user, question)
        model = self._model(conversation.model)
        parent = _parent(conversation, question)
        prompt = self._prompt(conversation, parent, question.content, model)
        asked = Message(
            conversation=conversation, parent_id=parent, role=Message.Role.USER, text=question.content
        )
        reply = Message(conversation=conversation, parent=asked, role=Message.Role.ASSISTANT, model=model.id)
        # Each row is written once, whichever refers to which: foreign keys are checked at the commit.
        conversation.active_leaf = reply
        conversation.updated = now = timezone.now()
        changed = None if conversation._state.adding else ["active_leaf", "updated", "model", "system"]
        conversation.save(force_insert=changed is None, update_fields=changed)
        Message.objects.bulk_create([asked, reply])
        run = Run.objects.create(
            user=user,
            conversation=conversation,
            message=reply,
            worker_id=self.worker,
            client_key=question.client_key,
            fingerprint=question.fingerprint,
            model=model.id,
            max_tokens=prompt.max_tokens,
            status=Run.Status.QUEUED if queued else Run.Status.RUNNING,
            started=None if queued else now,
        )
        return Opened(run, about(run), prompt)

    def _conversation(self, user: User, question: Question) -> Conversation:
        if question.conversation is None:
            model = question.model or self.catalogue.default.id
            return Conversation(
                user=user, title=title_from(question.content), model=model, system=question.system or ""
            )
        conversation = Conversation.objects.of(user).filter(pk=question.conversation).first()
        if conversation is None:
            raise Missing("There is no such conversation.")
        if question.model is not None:
            conversation.model = question.model
        if question.system is not None:
            conversation.system = question.system
        return conversation

    def _model(self, name: str) -> Model:
        try:
            return self.catalogue.get(name)
        except UnknownModel as error:
            raise Malformed(f"There is no model “{name[:100]}” here. Choose another one.") from error

    def _prompt(
        self, conversation: Conversation, parent: uuid.UUID | None, content: str, model: Model
    ) -> Prompt:
        messages = [{"role": "system", "content": conversation.system}] if conversation.system else []
        messages += _history(parent, model)
        _say(messages, Message.Role.USER, content)
        try:
            fit = budget.fit(messages, model)
        except UpstreamError as error:
            raise TooLong(error.message) from error
        return Prompt(fit.messages, model, fit.max_tokens)


def _parent(conversation: Conversation, question: Question) -> uuid.UUID | None:
    """A question follows a reply, or begins the conversation."""
    if question.parent == LEAF:
        return conversation.active_leaf_id
    if question.parent is None:
        return None
    replies = conversation.messages.filter(role=Message.Role.ASSISTANT)
    if not isinstance(question.parent, uuid.UUID) or not replies.filter(pk=question.parent).exists():
        raise Missing("There is no such reply in this conversation.")
    return question.parent


def _refuse_where_busy(conversation: uuid.UUID) -> None:
    if run := Run.objects.live().filter(conversation_id=conversation).first():
        raise Busy("A reply is still being written here. Wait for it, or stop it.", run=run.pk)


def _history(leaf: uuid.UUID | None, model: Model) -> list[dict[str, str]]:
    """The messages up to `leaf`, as far back as they can possibly fit into the window."""
    if leaf is None:
        return []
    wanted, room = [], model.window * 4  # a token is rarely longer than four characters
    for step in Message.objects.path(leaf, LONGEST_PATH):
        wanted.append(step.id)
        room -= step.length
        if room < 0:
            break
    found = Message.objects.only("role", "text").in_bulk(wanted)
    messages: list[dict[str, str]] = []
    for id_ in reversed(wanted):
        _say(messages, found[id_].role, found[id_].text)
    return messages


def _say(messages: list[dict[str, str]], role: str, text: str) -> None:
    """Add a message. A reply that stayed empty is left out, and the questions around it become one:
    many models' templates demand that the roles alternate."""
    if not text:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1] = {"role": role, "content": f"{messages[-1]['content']}\n\n{text}"}
    else:
        messages.append({"role": str(role), "content": text})
