"""Turn a command into a plan: the rows to store and the request to send upstream. Or refuse it."""

import uuid
from dataclasses import dataclass, field, replace

from django.utils.translation import gettext as _

from chat.exceptions import BadRequest, Conflict, ConversationBusy, NotFound
from chat.limits import MAX_REPLY_CHARS
from chat.models import Conversation, Message, Run, User
from chat.models.conversation import title_from
from chat.upstream import parameters
from chat.upstream.catalogue import Catalogue, LlmModel, UnknownModel
from chat.upstream.chat_request import ChatRequest

from . import prompt
from .commands import LEAF, ContinueReply, EditMessage, RegenerateReply, SendMessage, Turn

CONTINUABLE = (Run.Status.STOPPED, Run.Status.INTERRUPTED, Run.Status.TRUNCATED)


@dataclass(frozen=True, slots=True)
class Plan:
    """The run writes into `reply`, which is one of the new messages (`added`), or is being continued."""

    conversation: Conversation
    reply: Message
    request: ChatRequest
    added: list[Message] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Planner:
    """`catalogue`: the models that the user may use."""

    catalogue: Catalogue

    def plan(self, user: User, turn: Turn) -> Plan:
        """Return the plan for a command; write nothing.

        Raises NotFound, ConversationBusy, Conflict, BadRequest (unknown model) and PayloadTooLarge.
        """
        if isinstance(turn, SendMessage):
            return self._send(user, turn)
        conversation = lock_conversation(user, turn.message)
        check_not_busy(conversation.pk)
        message = conversation.messages.get(pk=turn.message)
        if isinstance(turn, EditMessage):
            return self._edit(conversation, message, turn)
        if isinstance(turn, RegenerateReply):
            return self._regenerate(conversation, message, turn)
        return self._continue(conversation, message, turn)

    def _send(self, user: User, question: SendMessage) -> Plan:
        conversation = self._conversation(user, question)
        if question.conversation:
            check_not_busy(conversation.pk)  # a reply that still grows could change while the branch is read
        return self._answer(conversation, _resolve_parent(conversation, question), question.content)

    def _edit(self, conversation: Conversation, message: Message, edit: EditMessage) -> Plan:
        if message.role != Message.Role.USER:
            raise Conflict(_("Only a question can be edited."))
        _apply_settings(conversation, edit)
        return self._answer(conversation, message.parent_id, edit.content)

    def _answer(self, conversation: Conversation, parent: uuid.UUID | None, content: str) -> Plan:
        """Plan a new question after `parent`, and the empty reply to it."""
        model = self._model(conversation)
        asked = Message(conversation=conversation, parent_id=parent, role=Message.Role.USER, text=content)
        reply = Message(conversation=conversation, parent=asked, role=Message.Role.ASSISTANT, model=model.id)
        told = prompt.build_prompt(conversation.system, parent, content, model, conversation.parameters)
        return Plan(conversation, reply, told, [asked, reply])

    def _regenerate(self, conversation: Conversation, message: Message, again: RegenerateReply) -> Plan:
        if message.role != Message.Role.ASSISTANT or message.parent_id is None:
            raise Conflict(_("Only a reply can be written anew."))
        _apply_settings(conversation, again)
        model = self._model(conversation)
        reply = Message(
            conversation=conversation,
            parent_id=message.parent_id,
            role=Message.Role.ASSISTANT,
            model=model.id,
        )
        told = prompt.rebuild_prompt(conversation.system, message.parent_id, model, conversation.parameters)
        return Plan(conversation, reply, replace(told, skip_cache=True), [reply])

    def _continue(self, conversation: Conversation, message: Message, turn: ContinueReply) -> Plan:
        run = message.runs.order_by("-created").first()
        if message.role != Message.Role.ASSISTANT or run is None:
            raise Conflict(_("Only a reply can be continued."))
        if not can_continue(message, run) or message.children.exists():
            raise Conflict(_("Only the last reply can be continued, and only where it was cut short."))
        _apply_settings(conversation, turn)
        try:
            model = self.catalogue.get(message.model)  # the reply's own model, as long as it is offered
        except UnknownModel:
            model = self._model(conversation)
        told = prompt.build_continuation(conversation.system, message, model, conversation.parameters)
        return Plan(conversation, message, told)

    def _conversation(self, user: User, question: SendMessage) -> Conversation:
        if question.conversation is None:
            model = question.model or self.catalogue.default.id
            return Conversation(
                user=user,
                title=title_from(question.content),
                model=model,
                system=question.system or "",
                parameters=parameters.merge({}, question.parameters or {}),
            )
        conversation = Conversation.objects.owned_by(user).filter(pk=question.conversation).first()
        if conversation is None:
            raise NotFound(_("There is no such conversation."))
        _apply_settings(conversation, question)
        return conversation

    def _model(self, conversation: Conversation) -> LlmModel:
        """Return the conversation's model; if it was retired, set the conversation to its successor."""
        try:
            model = self.catalogue.resolve(conversation.model)
        except UnknownModel as error:
            # The id as it was sent: the display name would tell that a hidden model exists.
            words = _("There is no model “%(name)s” here. Choose another one.")
            raise BadRequest(words % {"name": conversation.model[:100]}) from error
        conversation.model = model.id
        return model


def can_continue(message: Message, run: Run) -> bool:
    """Return whether `run`, the last one of `message`, was cut short and the text may still grow."""
    return run.status in CONTINUABLE and len(message.text) < MAX_REPLY_CHARS


def lock_conversation(user: User, message: uuid.UUID) -> Conversation:
    """Lock the conversation of one of this user's messages until the end of the transaction, and return it.

    Rows read after this call include the previous lock holder's commit. Raises NotFound.
    """
    found = Conversation.objects.owned_by(user).filter(messages=message)
    conversation = found.select_for_update(of=("self",), no_key=True).first()
    if conversation is None:
        raise NotFound(_("There is no such message."))
    return conversation


def check_not_busy(conversation: uuid.UUID) -> None:
    """Raises ConversationBusy with the id of the live run, if the conversation has one."""
    if run := Run.objects.live().filter(conversation_id=conversation).first():
        raise ConversationBusy(_("A reply is still being written here. Wait for it, or stop it."), run=run.pk)


def _apply_settings(conversation: Conversation, turn: Turn) -> None:
    """Set what a turn names of model, system prompt and parameters for the conversation from then on."""
    for name in ("model", "system"):
        if (sent := getattr(turn, name, None)) is not None:
            setattr(conversation, name, sent)
    if turn.parameters is not None:
        conversation.parameters = parameters.merge(conversation.parameters, turn.parameters)


def _resolve_parent(conversation: Conversation, question: SendMessage) -> uuid.UUID | None:
    """Return the id of the reply that the question follows; None at the beginning. Raises NotFound."""
    if question.parent == LEAF:
        return conversation.active_leaf_id
    if question.parent is None:
        return None
    replies = conversation.messages.filter(role=Message.Role.ASSISTANT)
    if not isinstance(question.parent, uuid.UUID) or not replies.filter(pk=question.parent).exists():
        raise NotFound(_("There is no such reply in this conversation."))
    return question.parent
