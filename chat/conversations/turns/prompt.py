"""The prompt of a run: the branch up to the question, or up to a reply that is to be continued.

A request also has labels for providers: pseudonyms that only this site can resolve.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext

from chat.exceptions import PayloadTooLarge
from chat.files.passages.best_passages import Ranked, RankingRequest
from chat.files.passages.selection import Selection, expected_tokens, select
from chat.library import memory
from chat.library.assistants import fill
from chat.models import Attachment, Conversation, Message, Preferences, Run
from chat.telemetry import tracing
from chat.telemetry.request_id import request_id
from chat.upstream import parameters, token_budget
from chat.upstream.catalog import LlmModel
from chat.upstream.chat_request import ChatRequest
from chat.upstream.errors import UpstreamError
from chat.upstream.parameters import Value
from chat.upstream.pictures import admit

from . import branch
from .branch import BranchMessage

SITE_HOST = urlsplit(settings.SITE_URL).hostname or ""
PSEUDONYM_HEX_DIGITS = 32
Parameters = Mapping[str, Value]
NO_PARAMETERS: Parameters = {}
NO_DOCUMENTS = Selection()
DOCUMENTS_DIVISOR = 2  # documents get at most half of the context window
REPLY_BESIDE_DOCUMENTS_DIVISOR = 8  # and they leave this share of it to the reply
CONTINUED_REPLY_DIVISOR = 2  # the end of a continued reply gets at most half of the context window
# For models that cannot continue an assistant message of their own. With other wordings they started again,
# summarized what they had written, or announced that they would go on.
CONTINUE_INSTRUCTION = (
    "Your last message was cut off in the middle. Write what comes next: begin with the very character that"
    " follows its last one, with the space or line break if that is what follows, even in the middle of a"
    " word, a list, a table or a code block. Do not repeat anything, do not open a code block again that is"
    " still open, and say nothing about having been cut off."
)


def with_metadata(request: ChatRequest, run: Run) -> ChatRequest:
    """Return `request` with labels for a gateway's log and with a session affinity.

    The affinity routes a conversation to the machine that served it before. It is a pseudonym, too, because
    it goes to the model's servers, which have no use for the id. The gateway's log gets the conversation's id
    itself, so that an administrator finds the transcript of an entry, and the id of the HTTP request.
    """
    conversation = str(run.conversation_id)
    known = with_labels(request, run.user_id, conversation=conversation, request=request_id.get())
    return replace(known, session_affinity=pseudonym("conversation", conversation))


def with_labels(request: ChatRequest, person: int, /, **more: str) -> ChatRequest:
    """Return `request` with labels for a gateway's log: the user's pseudonym, the site, and `more`.

    It also gets the context of the HTTP request's span, if traces are on.
    """
    labels = {"person": pseudonym("person", str(person)), **more, "site": SITE_HOST}
    metadata = {name: value for name, value in labels.items() if value}
    return replace(request, metadata=metadata, trace=tracing.context.get())


def pseudonym(kind: str, name: str) -> str:
    """Return a keyed hash of `name`, stable as long as SECRET_KEY is, and not resolvable without it."""
    return salted_hmac(f"chat.{kind}", name, algorithm="sha256").hexdigest()[:PSEUDONYM_HEX_DIGITS]


def system_prompt(conversation: Conversation, model: LlmModel) -> str:
    """Return the owner's instructions for all conversations, the memory, the assistant's and its own.

    All apply. The conversation's come last, so that they can narrow or overrule the others. The assistant's
    are those of the version that the conversation began with.
    """
    preferences = Preferences.of(conversation.user)
    general = preferences.instructions if preferences and preferences.has_instructions else ""
    version = conversation.assistant_version
    assistant = fill(version.instructions, conversation.user) if version else ""
    remembered = memory.told(conversation, model)
    return "\n\n".join(filter(None, (general, remembered, assistant, conversation.system)))


def documents_of(conversation: Conversation) -> list[Attachment]:
    """Return the documents that every prompt of the conversation holds: those of its assistant's version."""
    return Attachment.objects.of_version(conversation.assistant_version_id)


def build_prompt(
    system: str,
    leaf: uuid.UUID | None,
    content: str,
    model: LlmModel,
    chosen: Parameters = NO_PARAMETERS,
    attachments: Sequence[Attachment] = (),
    documents: Sequence[Attachment] = (),
    ranked: Ranked | None = None,
) -> ChatRequest | RankingRequest:
    """Return the request for `content` after the branch that ends with `leaf`.

    `chosen`: the parameters that the user chose. `attachments` belong to `content`, `documents` to the
    conversation. If long documents have to be ranked first, return what is wanted; `ranked` is the result,
    for the next call. Raises PayloadTooLarge.
    """
    messages = [*branch.read(leaf, model), branch.new_question(content, attachments)]
    return _request(system, branch.with_documents(messages, documents), model, chosen, ranked=ranked)


def rebuild_prompt(
    system: str,
    question: uuid.UUID,
    model: LlmModel,
    chosen: Parameters = NO_PARAMETERS,
    documents: Sequence[Attachment] = (),
    ranked: Ranked | None = None,
) -> ChatRequest | RankingRequest:
    """Return the request for the stored branch that ends with `question`, as `build_prompt` does."""
    messages = branch.with_documents(branch.read(question, model), documents)
    return _request(system, messages, model, chosen, ranked=ranked)


def build_continuation(
    system: str,
    reply: Message,
    model: LlmModel,
    chosen: Parameters = NO_PARAMETERS,
    documents: Sequence[Attachment] = (),
    ranked: Ranked | None = None,
) -> ChatRequest | RankingRequest:
    """Return the request to continue `reply`; if it has no text, to generate it again.

    llama.cpp continues a last message of the assistant. The templates of hosted models close that message, so
    those models are instructed to continue it. Otherwise as `build_prompt`.
    """
    assert reply.parent_id is not None
    if not reply.text.strip():
        return rebuild_prompt(system, reply.parent_id, model, chosen, documents, ranked)
    following = [{"role": "assistant", "content": _end_of(reply.text, model)}]
    if not model.local:
        following.append({"role": "user", "content": CONTINUE_INSTRUCTION})
    messages = branch.with_documents(branch.read(reply.parent_id, model), documents)
    return _request(system, messages, model, chosen, following, ranked)


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
    system: str,
    leaf: uuid.UUID,
    model: LlmModel,
    chosen: Parameters = NO_PARAMETERS,
    documents: Sequence[Attachment] = (),
) -> Context:
    """Return what `model` would be sent with a short question after `leaf`. Raises PayloadTooLarge.

    The tokens of documents are estimated: their texts are not read.
    """
    messages = branch.with_documents([*branch.read(leaf, model), branch.new_question("?", ())], documents)
    every = [document for each in messages for document in each.documents]
    expected = expected_tokens(every, model.window // DOCUMENTS_DIVISOR)
    reply_tokens = parameters.chosen_max_tokens(chosen) or token_budget.default_max_tokens(model)
    smaller = replace(model, window=model.window - expected)
    fit, start = _fit(system, *branch.merged(messages), smaller, reply_tokens)
    tokens = sum(token_budget.estimate_tokens(message, model) for message in fit.messages)
    return Context(start, expected + tokens)


def _request(
    system: str,
    messages: Sequence[BranchMessage],
    model: LlmModel,
    chosen: Parameters,
    following: Sequence[dict[str, Any]] = (),
    ranked: Ranked | None = None,
) -> ChatRequest | RankingRequest:
    """Return the request for the branch `messages`, which ends with a question.

    `following`: what follows the question, without an id. Neither the system prompt nor the question nor what
    follows it is ever dropped, and no document: those of a dropped message stand before the question.
    """
    reply_tokens, needed = parameters.chosen_max_tokens(chosen), 1 + len(following)
    documents = _selection(system, messages, model, following, ranked)
    if isinstance(documents, RankingRequest):
        return documents
    merged, ids = branch.merged(_before_question(messages, documents.parts), documents.texts)
    fit, start = _fit(system, [*merged, *following], ids, model, reply_tokens, needed=needed)
    if fit.dropped and not documents.parts and not _holds(fit, documents.texts.values()):
        merged, ids = branch.merged(_before_question(messages, "\n\n".join(documents.texts.values())))
        fit, start = _fit(system, [*merged, *following], ids, model, reply_tokens, needed=needed)
    return ChatRequest(
        fit.messages,
        model,
        fit.max_tokens,
        user_parameters=chosen,
        context_start=start,
        sent_parts=documents.sent,
    )


def _selection(
    system: str,
    messages: Sequence[BranchMessage],
    model: LlmModel,
    following: Sequence[dict[str, Any]],
    ranked: Ranked | None,
) -> Selection | RankingRequest:
    """Return what the request holds of the branch's documents."""
    documents = [document for each in messages for document in each.documents]
    if not documents:
        return NO_DOCUMENTS
    questions = [each.text for each in reversed(messages) if each.role == Message.Role.USER and each.text]
    kept = [{"content": system}, *branch.merged(messages)[0][-1:], *following]
    taken = sum(token_budget.estimate_tokens(each, model) for each in kept)
    reply_tokens = model.window // REPLY_BESIDE_DOCUMENTS_DIVISOR
    room = min(model.window // DOCUMENTS_DIVISOR, model.window - taken - reply_tokens)
    return select(documents, questions, model, max(0, room), ranked)


def _before_question(messages: Sequence[BranchMessage], text: str) -> list[BranchMessage]:
    return [*messages[:-1], replace(messages[-1], before=text)] if text else list(messages)


def _holds(fit: token_budget.Fit, texts: Collection[str]) -> bool:
    """Return True if each text is in a message that is sent."""
    return all(any(text in message["content"] for message in fit.messages) for text in texts)


def _fit(
    system: str,
    messages: list[dict[str, Any]],
    ids: list[Any],
    model: LlmModel,
    reply_tokens: int | None,
    *,
    needed: int = 1,
) -> tuple[token_budget.Fit, uuid.UUID | None]:
    """Return as many of the last messages as fit into the window, and the id of the oldest that is stored.

    `ids` are those of the first `messages`, None where one is not stored yet. `reply_tokens`: those that were
    chosen for the reply. The last `needed` messages and the system prompt are never dropped. Raises
    PayloadTooLarge.
    """
    first = [{"role": "system", "content": system}] if system else []
    try:
        fit = token_budget.fit(first + admit(messages, model), model, reply_tokens, needed=needed)
    except UpstreamError as error:
        raise PayloadTooLarge(gettext(error.message)) from error
    oldest = ids[fit.dropped] if fit.dropped < len(ids) else None
    return fit, Message._meta.pk.to_python(oldest)
