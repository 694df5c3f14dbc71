"""Turn a command into a plan: the rows to store and the request to send upstream. Refuse invalid commands."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext as _

from chat.conversations.tools import registry
from chat.conversations.tools.remember import Remember
from chat.exceptions import BadRequest, Conflict, ConversationBusy, NotFound
from chat.files.passages.best_passages import Ranked, RankingRequest
from chat.library import assistants, memory
from chat.library.assistants import model_of
from chat.limits import MAX_REPLY_CHARS
from chat.models import AssistantVersion, Attachment, Conversation, Message, Preferences, Run, User
from chat.models.conversation import ConversationQuerySet, title_from
from chat.upstream import parameters
from chat.upstream.catalog import Catalog, LlmModel, UnknownModel
from chat.upstream.chat_request import ChatRequest
from chat.upstream.doors import for_pictures

from . import attached
from .commands import LEAF, Command, ContinueReply, EditMessage, RegenerateReply, SendMessage
from .prompt import Prompts

CONTINUABLE = (Run.Status.STOPPED, Run.Status.INTERRUPTED, Run.Status.TRUNCATED)


@dataclass(frozen=True, slots=True)
class Plan:
    """The rows and the request of a turn. The run writes into `reply`, a new message or the one continued.

    `added`: the new messages. `attachments`: the pictures and documents of the new question, uploads or
    another message's. `tools`: the names of those that the model may call. `as_read`: the columns of a stored
    conversation that the plan depends on, before it. `request` asks for a ranking if the prompt has long
    documents: rank them, then plan again.
    """

    conversation: Conversation
    reply: Message
    request: ChatRequest | RankingRequest
    tools: Sequence[str]
    added: list[Message] = field(default_factory=list)
    attachments: Sequence[Attachment] = ()
    as_read: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Planner:
    """Plan the commands of one user.

    `catalog`: the models that this user may use. `ranked`: the passages that an earlier plan asked for.
    """

    catalog: Catalog
    ranked: Ranked | None = None

    def plan(self, user: User, command: Command) -> Plan:
        """Return the plan for a command; write nothing, and lock nothing.

        The conversation is read first, so that its `updated` shows whether anything has changed since.
        Raises NotFound, ConversationBusy, Conflict, BadRequest (model or attachment) and PayloadTooLarge.
        """
        if isinstance(command, SendMessage):
            return self._send(user, command)
        conversation = _found(user, _conversations_with(user, command.message))
        as_read = _columns_of(conversation)
        check_not_busy(conversation.pk)
        # Read after the check: a live run would still change the reply's text.
        message = conversation.messages.filter(pk=command.message, deleted=None).first()
        if message is None:
            raise NotFound(_("This message doesn’t exist."))
        if isinstance(command, EditMessage):
            plan = self._edit(conversation, message, command)
        elif isinstance(command, RegenerateReply):
            plan = self._regenerate(conversation, message, command)
        else:
            plan = self._continue(conversation, message, command)
        return replace(plan, as_read=as_read)

    def _send(self, user: User, question: SendMessage) -> Plan:
        conversation = self._conversation(user, question)
        as_read = _columns_of(conversation)
        if question.conversation:
            _apply_settings(conversation, question)
            check_not_busy(conversation.pk)  # a live reply could change while the branch is read
        attachments = attached.unsent(user, question.attachments)
        if not conversation.title:
            conversation.title = _title_of(attachments)
        parent = _resolve_parent(conversation, question)
        return replace(
            self._plan_question(conversation, parent, question.content, attachments), as_read=as_read
        )

    def _edit(self, conversation: Conversation, message: Message, edit: EditMessage) -> Plan:
        if message.role != Message.Role.USER:
            raise Conflict(_("Only your own messages can be edited."))
        _apply_settings(conversation, edit)
        attachments = attached.for_edit(conversation.user, message, edit.attachments)
        if not (edit.content.strip() or attachments):
            raise BadRequest(_("“%(name)s” can’t be empty.") % {"name": "content"})
        return self._plan_question(conversation, message.parent_id, edit.content, attachments)

    def _plan_question(
        self,
        conversation: Conversation,
        parent: uuid.UUID | None,
        content: str,
        attachments: Sequence[Attachment],
    ) -> Plan:
        """Plan a new question after `parent`, and an empty reply to it."""
        model = self._model(conversation, pictures=any(each.is_picture for each in attachments))
        attached.check(attachments, model)
        question = Message(conversation=conversation, parent_id=parent, role=Message.Role.USER, text=content)
        reply = Message(
            conversation=conversation, parent=question, role=Message.Role.ASSISTANT, model=model.id
        )
        request = Prompts.of(conversation, model, self.ranked).ask(parent, content, attachments)
        tools = list(conversation.tools)
        if memory.is_asked(content) and memory.applies(conversation):
            tools.append(Remember.name)
        return Plan(conversation, reply, request, tools, [question, reply], attachments)

    def _regenerate(self, conversation: Conversation, message: Message, command: RegenerateReply) -> Plan:
        if message.role != Message.Role.ASSISTANT or message.parent_id is None:
            raise Conflict(_("Only replies can be regenerated."))
        _apply_settings(conversation, command)
        model = self._model(conversation)
        if not model.vision and attached.has_pictures(message.parent_id):
            model = self._model(conversation, pictures=True)
        reply = Message(
            conversation=conversation,
            parent_id=message.parent_id,
            role=Message.Role.ASSISTANT,
            model=model.id,
        )
        request = Prompts.of(conversation, model, self.ranked).ask_again(message.parent_id)
        if isinstance(request, ChatRequest):
            request = replace(request, skip_cache=True)
        return Plan(conversation, reply, request, conversation.tools, [reply])

    def _continue(self, conversation: Conversation, message: Message, command: ContinueReply) -> Plan:
        run = message.runs.order_by("-created").first()
        if message.role != Message.Role.ASSISTANT or run is None:
            raise Conflict(_("Only replies can be continued."))
        if run.is_live:  # since the check
            raise _busy(run)
        if not can_continue(message, run) or message.children.filter(deleted=None).exists():
            raise Conflict(_("Only the last reply can be continued, and only if it was cut off."))
        _apply_settings(conversation, command)
        model = self._own_model(message.model, conversation)
        request = Prompts.of(conversation, model, self.ranked).go_on(message)
        return Plan(conversation, message, request, conversation.tools)

    def go_on(self, run: Run) -> ChatRequest | RankingRequest:
        """Return the prompt of a run that has waited, for the model that it began with, if it is offered.

        Raises BadRequest (no model) and PayloadTooLarge.
        """
        conversation = run.conversation
        model = self._own_model(run.model, conversation)
        # The message has the text of earlier runs only.
        return Prompts.of(conversation, model, self.ranked).go_on(run.message)

    def _conversation(self, user: User, question: SendMessage) -> Conversation:
        if question.conversation is None:
            version = assistants.find(user, question.assistant).current if question.assistant else None
            model = question.model or self._first_model(user, version).id
            states = Conversation.TitleState
            return Conversation(
                user=user,
                # The access log keeps titles, so that of a temporary chat must reveal nothing.
                title=_("Temporary chat") if question.temporary else title_from(question.content),
                title_state=states.FINAL if question.temporary else states.FIRST_LINE,
                temporary=question.temporary,
                model=model,
                system=question.system or "",
                parameters=parameters.merge(version.parameters if version else {}, question.parameters or {}),
                tools=list(first_tools(user, version) if question.tools is None else question.tools),
                assistant_version=version,
            )
        conversation = Conversation.objects.owned_by(user).filter(pk=question.conversation).first()
        if conversation is None:
            raise NotFound(_("This chat doesn’t exist."))
        conversation.user = user  # this object has its preferences loaded
        return conversation

    def _first_model(self, user: User, version: AssistantVersion | None) -> LlmModel:
        """Return the model for a new conversation that names none: the assistant's, if it is offered."""
        if version and (own := model_of(version, self.catalog)):
            return own
        preferences = Preferences.of(user)
        return self.catalog.resolve_or_default(preferences.model if preferences else "")

    def _own_model(self, name: str, conversation: Conversation) -> LlmModel:
        """Return the model that a reply began with, as long as it is offered; then the conversation's."""
        try:
            return self.catalog.get(name)
        except UnknownModel:
            return self._model(conversation)

    def _model(self, conversation: Conversation, *, pictures: bool = False) -> LlmModel:
        """Return the conversation's model; if it was retired, set the conversation to its successor.

        With `pictures` in the question, set it to the model for pictures if it cannot see.
        """
        try:
            model = self.catalog.resolve(conversation.model)
        except UnknownModel as error:
            # Show the id as it was sent: the display name would reveal that a hidden model exists.
            words = _("The model “%(name)s” isn’t available here. Choose another one.")
            raise BadRequest(words % {"name": conversation.model[:100]}) from error
        if pictures and not model.vision:
            model = for_pictures(self.catalog) or model
        conversation.model = model.id
        return model


def _title_of(attachments: Sequence[Attachment]) -> str:
    """Return the title of a conversation whose first question has no text."""
    first = attachments[0] if attachments else None
    named = title_from(first.alt if first.is_picture else first.name) if first else ""
    return named or _("Picture")


def first_tools(user: User, assistant: AssistantVersion | None) -> list[str]:
    """Return the tools of a new conversation whose question names none: by the assistant, or the person."""
    wanted = assistant.web_search if assistant else None
    if wanted is None and (preferences := Preferences.of(user)):
        wanted = preferences.web_search
    return ["web_search"] if wanted and registry.is_web_search_offered() else []


def can_continue(message: Message, run: Run) -> bool:
    """Return True if `run`, the last one of `message`, was cut short and the text is below its limit."""
    return run.status in CONTINUABLE and len(message.text) < MAX_REPLY_CHARS


def lock_conversation(user: User, message: uuid.UUID) -> Conversation:
    """Lock the conversation of one of this user's messages until the end of the transaction, and return it.

    Rows read after this call include the previous lock holder's commit. Raises NotFound.
    """
    found = _conversations_with(user, message)
    return _found(user, found.select_for_update(of=("self",), no_key=True))


def _conversations_with(user: User, message: uuid.UUID) -> ConversationQuerySet:
    return Conversation.objects.owned_by(user).filter(messages=message, messages__deleted=None)


def _found(user: User, conversations: ConversationQuerySet) -> Conversation:
    """Return the only conversation that matches. Raises NotFound."""
    conversation = conversations.first()
    if conversation is None:
        raise NotFound(_("This message doesn’t exist."))
    conversation.user = user  # this object has its preferences loaded
    return conversation


def check_not_busy(conversation: uuid.UUID) -> None:
    """Raise ConversationBusy, with the id of the live run, if the conversation has one."""
    if run := Run.objects.live().filter(conversation_id=conversation).first():
        raise _busy(run)


def _busy(run: Run) -> ConversationBusy:
    return ConversationBusy(_("A reply is still being written. Wait for it or stop it."), run=run.pk)


def _columns_of(conversation: Conversation) -> dict[str, Any]:
    """Return what a turn reads of its conversation. Whatever changes the messages changes `updated`."""
    names = ("updated", "active_leaf_id", "deleted", "model", "system", "parameters", "tools")
    return {name: getattr(conversation, name) for name in names}


def _apply_settings(conversation: Conversation, command: Command) -> None:
    """Store in the conversation what the command names of model, system prompt, tools and parameters."""
    for name in ("model", "system"):
        if (sent := getattr(command, name, None)) is not None:
            setattr(conversation, name, sent)
    if (tools := getattr(command, "tools", None)) is not None:
        conversation.tools = list(tools)
    if command.parameters is not None:
        conversation.parameters = parameters.merge(conversation.parameters, command.parameters)


def _resolve_parent(conversation: Conversation, question: SendMessage) -> uuid.UUID | None:
    """Return the id of the reply that the question follows; None at the beginning. Raises NotFound."""
    if question.parent == LEAF:
        return conversation.active_leaf_id
    if question.parent is None:
        return None
    replies = conversation.messages.filter(role=Message.Role.ASSISTANT, deleted=None)
    if not isinstance(question.parent, uuid.UUID) or not replies.filter(pk=question.parent).exists():
        raise NotFound(_("This chat has no such reply."))
    return question.parent
