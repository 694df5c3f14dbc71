"""The prompt of a run: the branch up to the question, or up to a reply that is to be continued."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from chat.exceptions import PayloadTooLarge
from chat.models import Conversation, Message, Preferences
from chat.upstream import parameters, token_budget
from chat.upstream.catalog import LlmModel
from chat.upstream.chat_request import ChatRequest
from chat.upstream.errors import UpstreamError
from chat.upstream.parameters import Value
from chat.upstream.pictures import Picture, admit, message_of, parts_of

from . import attached

Parameters = Mapping[str, Value]
NO_PARAMETERS: Parameters = {}
MAX_MESSAGES = 1_000  # per prompt; reading more would slow down every send in a long conversation
MAX_CHARS_PER_TOKEN = 4  # a token is rarely longer
CONTINUED_REPLY_DIVISOR = 2  # the end of a continued reply gets at most half of the context window
# For models that cannot continue an assistant message of their own. With other wordings they started again,
# summarized what they had written, or announced that they would go on.
CONTINUE_INSTRUCTION = (
    "Your last message was cut off in the middle. Write what comes next: begin with the very character that"
    " follows its last one, with the space or line break if that is what follows, even in the middle of a"
    " word, a list, a table or a code block. Do not repeat anything, do not open a code block again that is"
    " still open, and say nothing about having been cut off."
)


def system_prompt(conversation: Conversation) -> str:
    """Return the owner's instructions for all conversations, then the conversation's own; both apply.

    The conversation's come last, so that they can narrow or overrule the general ones.
    """
    preferences = Preferences.of(conversation.user)
    general = preferences.instructions if preferences and preferences.has_instructions else ""
    return "\n\n".join(filter(None, (general, conversation.system)))


def build_prompt(
    system: str,
    leaf: uuid.UUID | None,
    content: str,
    model: LlmModel,
    chosen: Parameters = NO_PARAMETERS,
    pictures: Sequence[Picture] = (),
) -> ChatRequest:
    """Return the request for `content` after the branch that ends with `leaf`. Raises PayloadTooLarge.

    `chosen`: the parameters that the user chose. `pictures` belong to `content`.
    """
    messages, ids = _history(leaf, model)
    _append(messages, Message.Role.USER, content, pictures)
    return _fit(system, messages, ids, model, chosen)


def rebuild_prompt(
    system: str, question: uuid.UUID, model: LlmModel, chosen: Parameters = NO_PARAMETERS
) -> ChatRequest:
    """Return the request for the stored branch that ends with `question`. Raises PayloadTooLarge."""
    return _fit(system, *_history(question, model), model, chosen)


def build_continuation(
    system: str, reply: Message, model: LlmModel, chosen: Parameters = NO_PARAMETERS
) -> ChatRequest:
    """Return the request to continue `reply`; if it has no text, to generate it again.

    llama.cpp continues a last message of the assistant. The templates of hosted models close that message, so
    those models are instructed to continue it. Raises PayloadTooLarge.
    """
    assert reply.parent_id is not None
    if not reply.text.strip():
        return rebuild_prompt(system, reply.parent_id, model, chosen)
    messages, ids = _history(reply.parent_id, model)
    messages.append({"role": "assistant", "content": _end_of(reply.text, model)})
    if not model.local:
        messages.append({"role": "user", "content": CONTINUE_INSTRUCTION})
    return _fit(system, messages, ids, model, chosen, needed=2 if model.local else 3)


def _end_of(text: str, model: LlmModel) -> str:
    """Return the longest end of `text` that may be sent. The continuation depends most on the end."""
    room = model.window // CONTINUED_REPLY_DIVISOR
    while (cost := token_budget.estimate_tokens({"content": text}, model)) > room:
        text = text[len(text) - len(text) * room // cost :]
    return text


@dataclass(frozen=True, slots=True)
class Context:
    """The messages of a conversation that a model is sent. `start`: the oldest, None if none is sent."""

    start: uuid.UUID | None
    tokens: int


def next_context(
    system: str, leaf: uuid.UUID, model: LlmModel, chosen: Parameters = NO_PARAMETERS
) -> Context:
    """Return what `model` would be sent with a short question after `leaf`. Raises PayloadTooLarge."""
    request = build_prompt(system, leaf, "?", model, chosen)
    tokens = sum(token_budget.estimate_tokens(message, model) for message in request.messages)
    return Context(request.context_start, tokens)


def _fit(
    system: str,
    messages: list[dict[str, Any]],
    ids: list[Any],
    model: LlmModel,
    chosen: Parameters,
    *,
    needed: int = 1,
) -> ChatRequest:
    """Return the request with as many of the last messages as fit into the window. Raises PayloadTooLarge.

    `ids` are those of the first `messages`; the rest is not stored yet. The last `needed` messages and the
    system prompt are never dropped.
    """
    first = [{"role": "system", "content": system}] if system else []
    messages = admit(messages, model)
    try:
        fit = token_budget.fit(first + messages, model, parameters.chosen_max_tokens(chosen), needed=needed)
    except UpstreamError as error:
        raise PayloadTooLarge(gettext(error.message)) from error
    start = Message._meta.pk.to_python(ids[fit.dropped]) if fit.dropped < len(ids) else None
    return ChatRequest(fit.messages, model, fit.max_tokens, user_parameters=chosen, context_start=start)


def _history(leaf: uuid.UUID | None, model: LlmModel) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return the messages up to `leaf`, as far back as could possibly fit into the window, and their ids.

    Several messages merged into one have the id of the first.
    """
    if leaf is None:
        return [], []
    room = model.window * MAX_CHARS_PER_TOKEN
    messages: list[dict[str, Any]] = []
    ids: list[Any] = []
    branch = Message.objects.recent(leaf, MAX_MESSAGES, room)
    pictures = _pictures([id_ for id_, *_, shows_pictures in branch if shows_pictures])
    for id_, role, text, _shows_pictures in reversed(branch):
        _append(messages, role, text, pictures.get(id_, ()))
        if len(messages) > len(ids):
            ids.append(id_)
    return messages, ids


def _pictures(ids: list[Any]) -> dict[Any, list[Picture]]:
    """Return the pictures of messages by their ids, which are in the database's own form."""
    if not ids:
        return {}
    found = attached.pictures_of([Message._meta.pk.to_python(id_) for id_ in ids])
    return {id_: found.get(Message._meta.pk.to_python(id_), []) for id_ in ids}


def _append(messages: list[dict[str, Any]], role: str, text: str, pictures: Sequence[Picture] = ()) -> None:
    """Append a message, merged with the last one if both have the same role; leave out an empty one.

    So an empty reply is dropped and the questions around it become one, because the templates of many models
    demand that the roles alternate.
    """
    if not text and not pictures:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1] = message_of(role, [*parts_of(messages[-1]), text, *pictures])
    else:
        messages.append(message_of(str(role), [text, *pictures]))
