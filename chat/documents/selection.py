"""The choice for a prompt among the documents of its branch: all of them whole, or the best parts."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

from chat.models import Attachment
from chat.upstream.catalog import LlmModel
from chat.upstream.chat_request import SentPart
from chat.upstream.token_budget import BYTES_PER_TOKEN, estimate_text_tokens

from . import prompt_text, ranking
from .pages import PageText, all_pages, key_of
from .passages import PASSAGE_CHARS, Passage, joined, split

MAX_PASSAGES = 40  # of one prompt: more would cost a lot and seldom help
# Read for one prompt, by the estimates made at the upload. The latest document is read in any case.
MAX_TOKENS_READ = 2_000_000
CITED_CHARS = 4_000  # of a part, in its citation
PART_TOKENS = 40  # for the line above a part, and what separates it from the next
FRAME_TOKENS = 200  # for the instructions around the parts
USUAL_PASSAGE_TOKENS = PART_TOKENS + PASSAGE_CHARS // BYTES_PER_TOKEN

Pages = dict[tuple[str, str], list[PageText]]


@dataclass(frozen=True, slots=True)
class Selection:
    """The texts of documents for one prompt.

    `texts`: what stands in the message of each document, by the document's id. `parts`: the best parts, which
    stand before the question; "" if the documents are whole. `sent`: all that is sent, in its order.
    """

    texts: dict[uuid.UUID, str] = field(default_factory=dict)
    parts: str = ""
    sent: tuple[SentPart, ...] = ()


def select(
    documents: Sequence[Attachment], questions: Sequence[str], model: LlmModel, room: int
) -> Selection:
    """Return what a prompt with `room` tokens for documents holds.

    `documents` are those of the branch, oldest first, `questions` its questions, latest first: the first one
    whose words are in the documents decides which parts are the best.
    """
    read = _latest(documents)
    pages = all_pages(read)
    return _whole(documents, read, pages, model, room) or _best_parts(
        documents, read, pages, questions, model, room
    )


def expected_tokens(documents: Sequence[Attachment], room: int) -> int:
    """Return about how many tokens `select` would fill, without reading any text."""
    whole = sum(each.tokens for each in documents)
    return whole if whole <= room else min(room, FRAME_TOKENS + MAX_PASSAGES * USUAL_PASSAGE_TOKENS)


def _latest(documents: Sequence[Attachment]) -> list[Attachment]:
    """Return the latest documents that are read, oldest first, each text once."""
    found: dict[tuple[str, str], Attachment] = {}
    room = MAX_TOKENS_READ
    for each in reversed(documents):
        if key_of(each) in found:
            del found[key_of(each)]  # at its first place, so that a prompt begins as the one before it
        elif each.tokens > room and found:
            break
        else:
            room -= each.tokens
        found[key_of(each)] = each
    return list(found.values())[::-1]


def _whole(
    documents: Sequence[Attachment], read: Sequence[Attachment], pages: Pages, model: LlmModel, room: int
) -> Selection | None:
    """Return all documents whole, or None if they do not fit."""
    if {key_of(each) for each in documents} - {key_of(each) for each in read}:
        return None
    texts = {each.pk: prompt_text.mention(each) for each in documents}
    for each in read:
        texts[each.pk] = prompt_text.whole(each, pages[key_of(each)])
        room -= estimate_text_tokens(texts[each.pk], local=model.local)
        if room < 0:
            return None
    return Selection(texts, sent=tuple(SentPart(each.pk, each.name) for each in read))


def _best_parts(
    documents: Sequence[Attachment],
    read: Sequence[Attachment],
    pages: Pages,
    questions: Sequence[str],
    model: LlmModel,
    room: int,
) -> Selection:
    mentions = {each.pk: prompt_text.mention(each) for each in documents}
    passages = [(each, one) for each in read for page in pages[key_of(each)] for one in split(page)]
    chosen = []
    room -= FRAME_TOKENS
    for place in _order([one.text for _each, one in passages], questions)[:MAX_PASSAGES]:
        cost = PART_TOKENS + estimate_text_tokens(passages[place][1].text, local=model.local)
        if cost > room:
            break
        room -= cost
        chosen.append(place)
    parts = _in_order(read, [passages[place] for place in sorted(chosen)])
    if not parts:
        return Selection(mentions)
    sent = tuple(
        SentPart(each.pk, each.name, one.page if each.pages > 1 else 0, one.text[:CITED_CHARS])
        for each, one in parts
    )
    text = prompt_text.parts([(each, PageText(one.page, one.text)) for each, one in parts])
    return Selection(mentions, text, sent)


def _order(texts: Sequence[str], questions: Sequence[str]) -> list[int]:
    """Return the places of the texts that match a question, best first; without a match, places all over."""
    for question in questions:
        scored = ranking.scores(texts, question)
        if any(scored):
            matching = [place for place, score in enumerate(scored) if score]
            return sorted(matching, key=lambda place: (-scored[place], place))
    step = max(1, -(-len(texts) // MAX_PASSAGES))
    return list(range(0, len(texts), step))


def _in_order(
    read: Sequence[Attachment], passages: Sequence[tuple[Attachment, Passage]]
) -> list[tuple[Attachment, Passage]]:
    """Return the passages in the order of the documents, those that touch as one."""
    found = []
    for document in read:
        own = [passage for each, passage in passages if each.pk == document.pk]
        found += [(document, passage) for passage in joined(own)]
    return found
