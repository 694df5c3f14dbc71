"""The prompt of a run: the branch up to the question, or up to a reply that is to be continued."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from chat.exceptions import PayloadTooLarge
from chat.models import Message
from chat.upstream import parameters, token_budget
from chat.upstream.catalogue import LlmModel
from chat.upstream.chat_request import ChatRequest
from chat.upstream.errors import UpstreamError
from chat.upstream.parameters import Value

Parameters = Mapping[str, Value]
NO_PARAMETERS: Parameters = {}
MAX_MESSAGES = 1_000  # per prompt; reading more would slow down every send in a long conversation
CONTINUED = 2  # a divisor: the end of a continued reply gets at most half of the context window
# For models that cannot continue an assistant message of their own. With other wordings they started again,
# summarised what they had written, or announced that they would go on.
CONTINUE_INSTRUCTION = (
    "Your last message was cut off in the middle. Write what comes next: begin with the very character that"
    " follows its last one, with the space or line break if that is what follows, even in the middle of a"
    " word, a list, a table or a code block. Do not repeat anything, do not open a code block again that is"
    " still open, and say nothing about having been cut off."
)


def build_prompt(
    system: str, leaf: uuid.UUID | None, content: str, model: LlmModel, chosen: Parameters = NO_PARAMETERS
) -> ChatRequest:
    """Return the request for `content` after the branch that ends with `leaf`. Raises PayloadTooLarge.

    `chosen`: the parameters that the user chose.
    """
    messages, ids = _history(leaf, model)
    _append(messages, Message.Role.USER, content)
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
    """Return the longest end of `text` that may be sent: the continuation depends on the end most."""
    room = model.window // CONTINUED
    while (cost := token_budget.estimate_tokens({"content": text}, model)) > room:
        text = text[len(text) - len(text) * room // cost :]
    return text


def context_start(
    system: str, leaf: uuid.UUID, model: LlmModel, chosen: Parameters = NO_PARAMETERS
) -> uuid.UUID | None:
    """Return the oldest message that `model` would be sent with a short question after `leaf`.

    None if only the question would be sent. Raises PayloadTooLarge.
    """
    return build_prompt(system, leaf, "?", model, chosen).context_start


def _fit(
    system: str,
    messages: list[dict[str, str]],
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
    try:
        fit = token_budget.fit(first + messages, model, parameters.chosen_max_tokens(chosen), needed=needed)
    except UpstreamError as error:
        raise PayloadTooLarge(gettext(error.message)) from error
    start = Message._meta.pk.to_python(ids[fit.dropped]) if fit.dropped < len(ids) else None
    return ChatRequest(fit.messages, model, fit.max_tokens, user_parameters=chosen, context_start=start)


def _history(leaf: uuid.UUID | None, model: LlmModel) -> tuple[list[dict[str, str]], list[Any]]:
    """Return the messages up to `leaf`, as far back as could possibly fit into the window, and their ids.

    Several messages merged into one have the id of the first.
    """
    if leaf is None:
        return [], []
    room = model.window * 4  # a token is rarely longer than four characters
    messages: list[dict[str, str]] = []
    ids: list[Any] = []
    for id_, role, text in reversed(Message.objects.recent(leaf, MAX_MESSAGES, room)):
        _append(messages, role, text)
        if len(messages) > len(ids):
            ids.append(id_)
    return messages, ids


def _append(messages: list[dict[str, str]], role: str, text: str) -> None:
    """Append a message, merged with the last one if both have the same role; leave out an empty one.

    So an empty reply is dropped and the questions around it become one, because the templates of many models
    demand that the roles alternate.
    """
    if not text:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1] = {"role": role, "content": f"{messages[-1]['content']}\n\n{text}"}
    else:
        messages.append({"role": str(role), "content": text})
