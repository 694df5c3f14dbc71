"""The versions of a text: of a reply, or of one of its code blocks, through the branch that has it."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.catalog import catalog
from chat.exceptions import BadRequest, NotFound
from chat.message_rendering import Text, render_page
from chat.models import Message, User
from chat.models.conversation import title_from
from chat.rendering.block_texts import CodeBlock, blocks_in, may_have, number_of_same
from chat.rendering.message_html import MessageHtml

from ..pages import require_room
from ..requests import access
from ..requests.request_fields import query_number

MAX_QUESTIONS = 100  # the latest ones of the branch, whose replies are searched
MAX_SEARCHED_CHARS = 2_000_000  # of their texts


@dataclass(frozen=True, slots=True)
class Version:
    """A message that has the text. `block`: the number of the code block in it, None for the whole message.

    `question`: the beginning of what was asked, for a question of the text itself.
    """

    message: uuid.UUID
    text: str
    model: str
    created: datetime
    question: str
    block: int | None = None
    code: CodeBlock | None = None

    @property
    def writer(self) -> str:
        return catalog.writer_name(catalog.current.get(), self.model) if self.model else ""

    @property
    def source(self) -> str:
        """The text as it was written."""
        return self.code.code if self.code else self.text

    @property
    def query(self) -> str:
        return f"?block={self.block}" if self.block else ""


@dataclass(frozen=True, slots=True)
class Sought:
    """The requested text: a message, or a code block of it. `candidates`: its possible versions.

    `is_followed`: the conversation, whose title this is, goes on below the message.
    """

    user: User
    message: Message
    block: int | None
    candidates: list[Version]
    is_followed: bool
    title: str

    @property
    def is_reply(self) -> bool:
        return self.message.role == Message.Role.ASSISTANT


@dataclass(frozen=True, slots=True)
class VersionedText:
    """`shown` is one of `versions`, oldest first. `blocks` are those of its whole message.

    `html` is the message's too, but that of the block where it holds words.
    """

    sought: Sought
    shown: Version
    versions: Sequence[Version]
    html: MessageHtml
    blocks: Sequence[CodeBlock] = ()

    @property
    def index(self) -> int:
        return self.versions.index(self.shown)


def read(request: HttpRequest, key: uuid.UUID, block: int | None = None) -> Sought:
    """Return the message, the number `block` or else `?block=`, and what may be its versions.

    Queries the database. Raises NotAuthenticated, NotFound, BadRequest and ServiceOverloaded.
    """
    user, message = access.get_user(request), access.get_message_or_404(request, key)
    require_room(user.pk)
    block = block or query_number(request, "block")
    if block == 0 or (block is None and "block" in request.GET):
        raise BadRequest(_("“block” must be the number of a code block."))
    if block and message.role != Message.Role.ASSISTANT:
        raise _no_block()
    is_followed = message.children.filter(deleted=None).exists()
    return Sought(user, message, block, list(_candidates(message)), is_followed, message.conversation.title)


async def find(sought: Sought) -> VersionedText:
    """Return the text with its versions. Raises NotFound if the message has no such block."""
    user, message = sought.user, sought.message
    [html] = await render_page(user.pk, [Text(message.text, str(message.pk), final=False)])
    if sought.block is None:
        return VersionedText(sought, _of(message, sought.candidates), sought.candidates, html)
    blocks = blocks_in(html)
    if sought.block > len(blocks):
        raise _no_block()
    wanted = blocks[sought.block - 1]
    having = [each for each in sought.candidates if may_have(each.text, wanted.language)]
    several = await render_page(user.pk, [Text(each.text, str(each.message)) for each in having])
    versions = []
    for each, rendered in zip(having, several, strict=True):
        others = blocks_in(rendered)
        if number := sought.block if each.message == message.pk else number_of_same(others, wanted):
            versions.append(replace(each, block=number, code=others[number - 1]))
    if wanted.holds_words:
        [html] = await render_page(user.pk, [Text(wanted.code, f"{message.pk}-{sought.block}")])
    return VersionedText(sought, _of(message, versions), versions, html, blocks)


def _of(message: Message, versions: Sequence[Version]) -> Version:
    return next(each for each in versions if each.message == message.pk)


def _candidates(message: Message) -> Iterator[Version]:
    """Yield the versions of each reply of the branch, oldest first; of a question, its own versions."""
    siblings = Message.objects.filter(conversation_id=message.conversation_id, deleted=None)
    if message.role == Message.Role.USER:
        for each in siblings.filter(parent=message.parent_id).order_by("created", "id"):
            yield Version(each.pk, each.text, "", each.created, title_from(each.text))
        return
    questions = _questions(message)
    replies = siblings.filter(parent__in=questions).order_by("-created", "-id")
    titles = {each.pk: title_from(each.text) for each in siblings.filter(pk__in=questions)}
    by_question: dict[uuid.UUID, list[Version]] = {key: [] for key in questions}
    left = MAX_SEARCHED_CHARS
    for each in replies.iterator(chunk_size=20):
        if (left := left - len(each.text)) < 0 and each.pk != message.pk:
            continue
        asked = titles[each.parent_id]  # type: ignore[index]
        by_question[each.parent_id].append(Version(each.pk, each.text, each.model, each.created, asked))  # type: ignore[index]
    for key in questions:
        yield from reversed(by_question[key])


def _questions(reply: Message) -> list[uuid.UUID]:
    """Return the latest questions of the branch that has the reply, oldest first: the shown one if it has."""
    for leaf in (reply.conversation.active_leaf_id, Message.objects.active_leaf_below(reply.pk)):
        path = Message.objects.ancestors(leaf, 2 * MAX_QUESTIONS) if leaf else []
        questions = [node.id for node in path if node.role == Message.Role.USER]
        if reply.parent_id in questions:
            return questions[::-1]
    return [reply.parent_id]  # type: ignore[list-item]  # further up than the latest ones


def _no_block() -> NotFound:
    return NotFound(_("This reply has no such code block."))
