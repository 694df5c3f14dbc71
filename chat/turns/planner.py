"""From what a person asks for to what is to be stored and asked upstream; or the refusal of it."""

import uuid
from dataclasses import dataclass, field, replace

from django.utils.translation import gettext as _

from chat.exceptions import Busy, Conflict, Malformed, Missing
from chat.limits import LONGEST_REPLY
from chat.models import Conversation, Message, Run, User
from chat.models.conversation import title_from
from chat.upstream import parameters
from chat.upstream.catalogue import Catalogue, Model, UnknownModel
from chat.upstream.chat_request import Ask

from . import prompt
from .commands import LEAF, Continuation, Edit, Question, Regeneration, Turn

CONTINUABLE = (Run.Status.STOPPED, Run.Status.INTERRUPTED, Run.Status.TRUNCATED)


@dataclass(frozen=True, slots=True)
class Plan:
    """`added` messages are new; the run writes into `reply`, which is one of them or continued."""

    conversation: Conversation
    reply: Message
    ask: Ask
    added: list[Message] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Planner:
    """`catalogue`: what the person who asks may use."""

    catalogue: Catalogue

    def plan(self, user: User, turn: Turn) -> Plan:
        """Raises Missing, Busy, Conflict, Malformed (unknown model) and TooLong. Writes nothing."""
        if isinstance(turn, Question):
            return self._send(user, turn)
        conversation = lock(user, turn.message)
        refuse_where_busy(conversation.pk)
        message = conversation.messages.get(pk=turn.message)
        if isinstance(turn, Edit):
            return self._edit(conversation, message, turn)
        if isinstance(turn, Regeneration):
            return self._regenerate(conversation, message, turn)
        return self._continue(conversation, message, turn)

    def _send(self, user: User, question: Question) -> Plan:
        conversation = self._conversation(user, question)
        if question.conversation:  # else the reply before it might still grow while the branch is read
            refuse_where_busy(conversation.pk)
        return self._answer(conversation, _parent(conversation, question), question.content)

    def _edit(self, conversation: Conversation, message: Message, edit: Edit) -> Plan:
        if message.role != Message.Role.USER:
            raise Conflict(_("Only a question can be edited."))
        _settle(conversation, edit)
        return self._answer(conversation, message.parent_id, edit.content)

    def _answer(self, conversation: Conversation, parent: uuid.UUID | None, content: str) -> Plan:
        """A new question behind `parent`, and the empty reply to it."""
        model = self._model(conversation)
        asked = Message(conversation=conversation, parent_id=parent, role=Message.Role.USER, text=content)
        reply = Message(conversation=conversation, parent=asked, role=Message.Role.ASSISTANT, model=model.id)
        told = prompt.ask(conversation.system, parent, content, model, conversation.parameters)
        return Plan(conversation, reply, told, [asked, reply])

    def _regenerate(self, conversation: Conversation, message: Message, again: Regeneration) -> Plan:
        if message.role != Message.Role.ASSISTANT or message.parent_id is None:
            raise Conflict(_("Only a reply can be written anew."))
        _settle(conversation, again)
        model = self._model(conversation)
        reply = Message(
            conversation=conversation,
            parent_id=message.parent_id,
            role=Message.Role.ASSISTANT,
            model=model.id,
        )
        told = prompt.ask_again(conversation.system, message.parent_id, model, conversation.parameters)
        return Plan(conversation, reply, replace(told, fresh=True), [reply])

    def _continue(self, conversation: Conversation, message: Message, turn: Continuation) -> Plan:
        run = message.runs.order_by("-created").first()
        if message.role != Message.Role.ASSISTANT or run is None:
            raise Conflict(_("Only a reply can be continued."))
        if not can_continue(message, run) or message.children.exists():
            raise Conflict(_("Only the last reply can be continued, and only where it was cut short."))
        _settle(conversation, turn)
        try:
            model = self.catalogue.get(message.model)  # its own, as long as that is offered
        except UnknownModel:
            model = self._model(conversation)
        told = prompt.go_on(conversation.system, message, model, conversation.parameters)
        return Plan(conversation, message, told)

    def _conversation(self, user: User, question: Question) -> Conversation:
        if question.conversation is None:
            model = question.model or self.catalogue.default.id
            return Conversation(
                user=user,
                title=title_from(question.content),
                model=model,
                system=question.system or "",
                parameters=parameters.merged({}, question.parameters or {}),
            )
        conversation = Conversation.objects.of(user).filter(pk=question.conversation).first()
        if conversation is None:
            raise Missing(_("There is no such conversation."))
        _settle(conversation, question)
        return conversation

    def _model(self, conversation: Conversation) -> Model:
        """The conversation's model, or from now on the one that took the place of a retired one."""
        try:
            model = self.catalogue.answering(conversation.model)
        except UnknownModel as error:
            words = _("There is no model “%(name)s” here. Choose another one.")
            raise Malformed(words % {"name": conversation.model[:100]}) from error
        conversation.model = model.id
        return model


def can_continue(message: Message, run: Run) -> bool:
    """Whether `run`, the last one of `message`, was cut short, and more still fits."""
    return run.status in CONTINUABLE and len(message.text) < LONGEST_REPLY


def lock(user: User, message: uuid.UUID) -> Conversation:
    """The conversation of a message of this person, to be changed by nobody else in this transaction.

    What is read of its messages afterwards is what the last one who had it left. Raises Missing.
    """
    found = Conversation.objects.of(user).filter(messages=message)
    conversation = found.select_for_update(of=("self",), no_key=True).first()
    if conversation is None:
        raise Missing(_("There is no such message."))
    return conversation


def refuse_where_busy(conversation: uuid.UUID) -> None:
    """Raises Busy with the live run, if there is one."""
    if run := Run.objects.live().filter(conversation_id=conversation).first():
        raise Busy(_("A reply is still being written here. Wait for it, or stop it."), run=run.pk)


def _settle(conversation: Conversation, turn: Turn) -> None:
    """What is sent with a turn holds from then on."""
    for name in ("model", "system"):
        if (sent := getattr(turn, name, None)) is not None:
            setattr(conversation, name, sent)
    if turn.parameters is not None:
        conversation.parameters = parameters.merged(conversation.parameters, turn.parameters)


def _parent(conversation: Conversation, question: Question) -> uuid.UUID | None:
    """A question follows a reply, or begins the conversation."""
    if question.parent == LEAF:
        return conversation.active_leaf_id
    if question.parent is None:
        return None
    replies = conversation.messages.filter(role=Message.Role.ASSISTANT)
    if not isinstance(question.parent, uuid.UUID) or not replies.filter(pk=question.parent).exists():
        raise Missing(_("There is no such reply in this conversation."))
    return question.parent
