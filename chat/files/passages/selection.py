"""The choice for a prompt among the documents of its branch: all of them whole, or the best parts."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

from chat.models import Attachment
from chat.upstream.catalog import LlmModel
from chat.upstream.chat_request import SentPart
from chat.upstream.token_budget import BYTES_PER_TOKEN, estimate_text_tokens

from . import prompt_text
from .best_passages import MAX_PASSAGES, Ranked, RankingRequest
from .pages import PASSAGE_CHARS, DocumentPassage, PageText, TextKey, all_pages, joined, key_of

# Read for one prompt, by the estimates made at the upload. The latest document is read in any case.
MAX_TOKENS_READ = 2_000_000
CITED_CHARS = 4_000  # of a part, in its citation
PART_TOKENS = 40  # for the line above a part, and what separates it from the next
FRAME_TOKENS = 200  # for the instructions around the parts
USUAL_PASSAGE_TOKENS = PART_TOKENS + PASSAGE_CHARS // BYTES_PER_TOKEN


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
    documents: Sequence[Attachment],
    questions: Sequence[str],
    model: LlmModel,
    room: int,
    ranked: Ranked | None = None,
) -> Selection | RankingRequest:
    """Return what a prompt with `room` tokens for documents holds.

    `documents` are those of the branch, oldest first, `questions` its questions, latest first. If they do
    not fit, and `ranked` is not the result for the same ones, return what has to be ranked.
    """
    read = _latest(documents)
    if selection := _whole(documents, read, model, room):
        return selection
    wanted = RankingRequest.of(read, questions, model)
    if ranked is None or ranked.wanted != wanted:
        return wanted
    return _best_parts(documents, ranked, model, room)


def expected_tokens(documents: Sequence[Attachment], room: int) -> int:
    """Return about how many tokens `select` would fill, without reading any text."""
    whole = sum(each.tokens for each in documents)
    return whole if whole <= room else parts_tokens(room)


def parts_tokens(room: int) -> int:
    """Return about how many tokens the best parts take at most."""
    return min(room, FRAME_TOKENS + MAX_PASSAGES * USUAL_PASSAGE_TOKENS)


def _latest(documents: Sequence[Attachment]) -> list[Attachment]:
    """Return the latest documents that are read, oldest first, each text once."""
    found: dict[TextKey, Attachment] = {}
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
    documents: Sequence[Attachment], read: Sequence[Attachment], model: LlmModel, room: int
) -> Selection | None:
    """Return all documents whole, or None if they do not fit. Reads no text that is certainly too long."""
    if {key_of(each) for each in documents} - {key_of(each) for each in read}:
        return None
    # The estimates are of each page, rounded up.
    if sum(each.tokens - each.pages for each in read) > room:
        return None
    pages = all_pages(read)
    numbers = _numbers(documents)
    texts = {pk: prompt_text.mention(number) for pk, number in numbers.items()}
    for each in read:
        texts[each.pk] = prompt_text.whole(each, pages[key_of(each)], numbers[each.pk])
        room -= estimate_text_tokens(texts[each.pk], local=model.local)
        if room < 0:
            return None
    return Selection(texts, sent=tuple(SentPart(each.pk, each.name) for each in read))


def _best_parts(documents: Sequence[Attachment], ranked: Ranked, model: LlmModel, room: int) -> Selection:
    numbers = _numbers(documents)
    mentions = {pk: prompt_text.mention(number) for pk, number in numbers.items()}
    chosen = []
    room -= FRAME_TOKENS
    for each, passage in ranked.passages:
        cost = PART_TOKENS + estimate_text_tokens(passage.text, local=model.local)
        if cost > room:
            break
        room -= cost
        chosen.append((each, passage))
    parts = _in_order(ranked.wanted.documents, chosen)
    if not parts:
        return Selection(mentions)
    sent = tuple(
        SentPart(each.pk, each.name, one.page if each.pages > 1 else 0, one.text[:CITED_CHARS])
        for each, one in parts
    )
    text = prompt_text.parts([(each, PageText(one.page, one.text)) for each, one in parts], numbers)
    return Selection(mentions, text, sent)


def _numbers(documents: Sequence[Attachment]) -> dict[uuid.UUID, int]:
    """Return the numbers of documents in a prompt, by their ids; those with the same text have the same."""
    texts = {key: number for number, key in enumerate(dict.fromkeys(map(key_of, documents)), 1)}
    return {each.pk: texts[key_of(each)] for each in documents}


def _in_order(
    read: Sequence[Attachment], passages: Sequence[tuple[Attachment, DocumentPassage]]
) -> list[tuple[Attachment, DocumentPassage]]:
    """Return the passages in the order of the documents, those that touch as one."""
    found = []
    for document in read:
        own = [passage for each, passage in passages if each.pk == document.pk]
        own.sort(key=lambda passage: (passage.page, passage.start))
        found += [(document, passage) for passage in joined(own)]
    return found
