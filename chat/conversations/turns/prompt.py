"""The prompt of a run: the branch up to the question, or up to a reply that is to be continued.

A request also has labels for providers: pseudonyms that only this site can resolve.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self
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


@dataclass(frozen=True, slots=True)
class Context:
    """The messages of a conversation that a model is sent. `start`: the oldest, None if none is sent."""

    start: uuid.UUID | None
    tokens: int


@dataclass(frozen=True, slots=True)
class Prompts:
    """The requests to `model` that a conversation may need. Each holds the end of a branch that fits.

    `chosen`: the parameters that the user chose. `documents`: those that every prompt holds. If long
    documents have to be ranked first, what is wanted is returned instead; `ranked` is the result, for the
    next attempt. Each raises PayloadTooLarge.
    """

    model: LlmModel
    system: str = ""
    chosen: Mapping[str, Value] = field(default_factory=dict)
    documents: Sequence[Attachment] = ()
    ranked: Ranked | None = None

    @classmethod
    def of(cls, conversation: Conversation, model: LlmModel, ranked: Ranked | None = None) -> Self:
        """Return those of a conversation, with the documents of its assistant's version."""
        documents = Attachment.objects.of_version(conversation.assistant_version_id)
        return cls(model, system_prompt(conversation, model), conversation.parameters, documents, ranked)

    def ask(
        self, leaf: uuid.UUID | None, content: str, attachments: Sequence[Attachment] = ()
    ) -> ChatRequest | RankingRequest:
        """Return the request for a new question after the branch that ends with `leaf`."""
        return self._request([*branch.read(leaf, self.model), branch.new_question(content, attachments)])

    def ask_again(self, question: uuid.UUID) -> ChatRequest | RankingRequest:
        """Return the request for the stored branch that ends with `question`."""
        return self._request(branch.read(question, self.model))

    def go_on(self, reply: Message) -> ChatRequest | RankingRequest:
        """Return the request to continue `reply`; if it has no text, to generate it again.

        llama.cpp continues a last message of the assistant. The templates of hosted models close that
        message, so those models are instructed to continue it.
        """
        assert reply.parent_id is not None
        if not reply.text.strip():
            return self.ask_again(reply.parent_id)
        following = [{"role": "assistant", "content": _end_of(reply.text, self.model)}]
        if not self.model.local:
            following.append({"role": "user", "content": CONTINUE_INSTRUCTION})
        return self._request(branch.read(reply.parent_id, self.model), following)

    def next_context(self, leaf: uuid.UUID) -> Context:
        """Return what the model would be sent with a short question after `leaf`.

        The tokens of documents are estimated: their texts are not read.
        """
        model, asked = self.model, branch.new_question("?", ())
        messages = branch.with_documents([*branch.read(leaf, model), asked], self.documents)
        every = [document for each in messages for document in each.documents]
        expected = expected_tokens(every, model.window // DOCUMENTS_DIVISOR)
        reply_tokens = parameters.chosen_max_tokens(self.chosen) or token_budget.default_max_tokens(model)
        smaller = replace(model, window=model.window - expected)
        fit, start = _fit(self.system, *branch.merged(messages), smaller, reply_tokens)
        return Context(start, expected + token_budget.estimate_tokens(fit.messages, model))

    def _request(
        self, branch_messages: Sequence[BranchMessage], following: Sequence[dict[str, Any]] = ()
    ) -> ChatRequest | RankingRequest:
        """Return the request for a branch that ends with a question.

        `following`: what follows the question, without an id. Neither the system prompt nor the question nor
        what follows it is ever dropped, and no document: those of a dropped message stand before the
        question.
        """
        messages = branch.with_documents(branch_messages, self.documents)
        documents = self._selection(messages, following)
        if isinstance(documents, RankingRequest):
            return documents
        fit, start = self._fitted(_before_question(messages, documents.parts), following, documents.texts)
        if fit.dropped and not documents.parts and not _holds(fit, documents.texts.values()):
            whole = _before_question(messages, "\n\n".join(documents.texts.values()))
            fit, start = self._fitted(whole, following)
        return ChatRequest(
            fit.messages,
            self.model,
            fit.max_tokens,
            user_parameters=self.chosen,
            context_start=start,
            sent_parts=documents.sent,
        )

    def _fitted(
        self,
        messages: Sequence[BranchMessage],
        following: Sequence[dict[str, Any]],
        texts: Mapping[uuid.UUID, str] = branch.NO_TEXTS,
    ) -> tuple[token_budget.Fit, uuid.UUID | None]:
        merged, ids = branch.merged(messages, texts)
        reply_tokens, needed = parameters.chosen_max_tokens(self.chosen), 1 + len(following)
        return _fit(self.system, [*merged, *following], ids, self.model, reply_tokens, needed=needed)

    def _selection(
        self, messages: Sequence[BranchMessage], following: Sequence[dict[str, Any]]
    ) -> Selection | RankingRequest:
        """Return what the request holds of the branch's documents."""
        documents = [document for each in messages for document in each.documents]
        if not documents:
            return NO_DOCUMENTS
        questions = [each.text for each in reversed(messages) if each.role == Message.Role.USER and each.text]
        kept = [{"content": self.system}, *branch.merged(messages)[0][-1:], *following]
        taken = token_budget.estimate_tokens(kept, self.model)
        window = self.model.window
        reply_tokens = window // REPLY_BESIDE_DOCUMENTS_DIVISOR
        room = min(window // DOCUMENTS_DIVISOR, window - taken - reply_tokens)
        return select(documents, questions, self.model, max(0, room), self.ranked)


def _end_of(text: str, model: LlmModel) -> str:
    """Return the longest end of `text` that may be sent. The continuation depends most on the end."""
    room = model.window // CONTINUED_REPLY_DIVISOR
    while (cost := token_budget.estimate_tokens([{"content": text}], model)) > room:
        text = text[len(text) - len(text) * room // cost :]
    return text


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
