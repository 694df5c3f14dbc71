"""What a model is told for a run: the branch up to the question, and how to go on with a reply cut short."""

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
MAX_MESSAGES = 1_000  # of a prompt; reading more would hold up every send of a long conversation
CONTINUED = 2  # a reply that is continued gets at most this part of the window: its end
# For models that cannot be made to go on with a message of their own. Asked any other way they begin anew,
# sum up what they wrote, or say that they will go on.
CONTINUE_INSTRUCTION = (
    "Your last message was cut off in the middle. Write what comes next: begin with the very character that"
    " follows its last one, with the space or line break if that is what follows, even in the middle of a"
    " word, a list, a table or a code block. Do not repeat anything, do not open a code block again that is"
    " still open, and say nothing about having been cut off."
)


def build_prompt(
    system: str, leaf: uuid.UUID | None, content: str, model: LlmModel, chosen: Parameters = NO_PARAMETERS
) -> ChatRequest:
    """`content` after the branch that ends with `leaf`, with the parameters `chosen`. Raises
    PayloadTooLarge."""
    messages, ids = _history(leaf, model)
    _append(messages, Message.Role.USER, content)
    return _fit(system, messages, ids, model, chosen)


def rebuild_prompt(
    system: str, question: uuid.UUID, model: LlmModel, chosen: Parameters = NO_PARAMETERS
) -> ChatRequest:
    """The branch that ends with `question`, as it is stored. Raises PayloadTooLarge."""
    return _fit(system, *_history(question, model), model, chosen)


def build_continuation(
    system: str, reply: Message, model: LlmModel, chosen: Parameters = NO_PARAMETERS
) -> ChatRequest:
    """The branch that ends with `reply`, to be continued; what is empty is asked for again. Raises
    PayloadTooLarge.

    llama.cpp goes on with a last message that is the model's own. Hosted models have templates that end it.
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
    """As much of it as there may be; what follows depends on the end."""
    room = model.window // CONTINUED
    while (cost := token_budget.estimate_tokens({"content": text}, model)) > room:
        text = text[len(text) - len(text) * room // cost :]
    return text


def context_start(
    system: str, leaf: uuid.UUID, model: LlmModel, chosen: Parameters = NO_PARAMETERS
) -> uuid.UUID | None:
    """The oldest message that `model` would be sent with a short question after `leaf`; None where only that.

    Raises PayloadTooLarge.
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
    """`ids` are those of the first `messages`; what follows them is not stored yet."""
    first = [{"role": "system", "content": system}] if system else []
    try:
        fit = token_budget.fit(first + messages, model, parameters.chosen_max_tokens(chosen), needed=needed)
    except UpstreamError as error:
        raise PayloadTooLarge(gettext(error.message)) from error
    start = Message._meta.pk.to_python(ids[fit.dropped]) if fit.dropped < len(ids) else None
    return ChatRequest(fit.messages, model, fit.max_tokens, user_parameters=chosen, context_start=start)


def _history(leaf: uuid.UUID | None, model: LlmModel) -> tuple[list[dict[str, str]], list[Any]]:
    """The messages up to `leaf`, as far back as they can possibly fit into the window, and their ids.

    Where several became one, its id is that of the first.
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
    """Add a message. A reply that stayed empty is left out, and the questions around it become one:
    many models' templates demand that the roles alternate."""
    if not text:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1] = {"role": role, "content": f"{messages[-1]['content']}\n\n{text}"}
    else:
        messages.append({"role": str(role), "content": text})
