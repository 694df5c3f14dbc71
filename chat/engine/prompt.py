"""What a model is told for a run: the branch up to the question, and how to go on with a reply cut short."""

import uuid
from collections.abc import Mapping

from django.utils.translation import gettext

from chat.models import Message
from chat.upstream import budget, parameters
from chat.upstream.ask import Ask
from chat.upstream.catalogue import Model
from chat.upstream.errors import UpstreamError
from chat.upstream.parameters import Value

from .refusal import TooLong

Chosen = Mapping[str, Value]
NOTHING: Chosen = {}
LONGEST_PATH = 4_000  # messages looked at for a prompt; more fit into no window
CONTINUED = 2  # a reply that is continued gets at most this part of the window: its end
# For models that cannot be made to go on with a message of their own. Asked any other way they begin anew,
# sum up what they wrote, or say that they will go on.
GO_ON = (
    "Your last message was cut off in the middle. Write what comes next: begin with the very character that"
    " follows its last one, with the space or line break if that is what follows, even in the middle of a"
    " word, a list, a table or a code block. Do not repeat anything, do not open a code block again that is"
    " still open, and say nothing about having been cut off."
)


def ask(system: str, leaf: uuid.UUID | None, content: str, model: Model, chosen: Chosen = NOTHING) -> Ask:
    """`content` after the branch that ends with `leaf`, with the parameters `chosen`. Raises TooLong."""
    messages = _history(leaf, model)
    _say(messages, Message.Role.USER, content)
    return _fitted(system, messages, model, chosen)


def ask_again(system: str, question: uuid.UUID, model: Model, chosen: Chosen = NOTHING) -> Ask:
    """The branch that ends with `question`, as it is stored. Raises TooLong."""
    return _fitted(system, _history(question, model), model, chosen)


def go_on(system: str, reply: Message, model: Model, chosen: Chosen = NOTHING) -> Ask:
    """The branch that ends with `reply`, to be continued; what is empty is asked for again. Raises TooLong.

    llama.cpp goes on with a last message that is the model's own. Hosted models have templates that end it.
    """
    assert reply.parent_id is not None
    if not reply.text.strip():
        return ask_again(system, reply.parent_id, model, chosen)
    messages = _history(reply.parent_id, model)
    messages.append({"role": "assistant", "content": _end_of(reply.text, model)})
    if not model.local:
        messages.append({"role": "user", "content": GO_ON})
    return _fitted(system, messages, model, chosen, needed=2 if model.local else 3)


def _end_of(text: str, model: Model) -> str:
    """As much of it as there may be; what follows depends on the end."""
    room = model.window // CONTINUED
    while (cost := budget.tokens({"content": text}, model)) > room:
        text = text[len(text) - len(text) * room // cost :]
    return text


def _fitted(
    system: str, messages: list[dict[str, str]], model: Model, chosen: Chosen, *, needed: int = 1
) -> Ask:
    first = [{"role": "system", "content": system}] if system else []
    try:
        fit = budget.fit(first + messages, model, parameters.tokens(chosen), needed=needed)
    except UpstreamError as error:
        raise TooLong(gettext(error.message)) from error
    return Ask(fit.messages, model, fit.max_tokens, chosen=chosen)


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
