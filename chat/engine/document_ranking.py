"""Ranking of long documents for prompts, and the embeddings that it compares: of questions and of documents.

Without an embedding, for whatever reason, documents are ranked by their words alone.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Sequence

from chat.catalog import config
from chat.catalog.config import NO_EMBEDDINGS
from chat.db.background import BackgroundTasks, log_failure
from chat.db.executor import run_in_db
from chat.files.passages import best_passages, embeddings
from chat.files.passages.best_passages import Ranked, RankingRequest
from chat.files.passages.embeddings import PassageBatch, QuestionVector
from chat.files.passages.pages import key_of
from chat.models import Attachment
from chat.upstream.catalog import LlmModel, Provider
from chat.upstream.client import Client
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.providers.cloudflare_api import MAX_TEXTS, Vector

QUESTION_SECONDS = 2.0  # that a send waits for the embedding of its question
QUESTION_CHARS = 1_000  # at the beginning and at the end of a question
LONG_TOKENS = 8_000  # of documents that get embeddings at the upload; others do when a prompt needs them
MAX_WAITING_DOCUMENTS = 100  # that wait; others get theirs when a prompt needs them
MAX_BATCHES_A_DAY = 600  # of one person, in this process: about 8,000,000 tokens
EMBEDDING_ATTEMPTS = 3
EMBEDDING_RETRY_SECONDS = 10.0
FAILURE_PAUSE_SECONDS = 60.0  # after a failure that may pass
REFUSED_SECONDS = 3_600.0  # after one that will not, such as an unknown model
DAY_SECONDS = 86_400.0
MAX_RANKINGS = 4  # for one prompt, because other turns of the conversation may change what has to be ranked

logger = logging.getLogger(__name__)


class DocumentRanking:
    """The ranking of documents for prompts, to be used on the event loop.

    `alone`: models of the account are the only ones on this site.
    """

    def __init__(self, client: Client, *, alone: bool) -> None:
        self._client = client
        self._alone = alone
        self._waiting: deque[tuple[int, Attachment]] = deque()
        self._embedded: dict[int, int] = {}  # batches of each person on this day
        self._day = 0.0
        self._paused_until = 0.0
        self._tasks = BackgroundTasks()
        self._stopped = False

    async def rank(self, person: int, wanted: RankingRequest) -> Ranked:
        """Return the best passages for a prompt. Raises ServiceOverloaded."""
        question = await self._question(person, wanted) if self._may_embed(wanted.model) else None
        return await asyncio.wrap_future(best_passages.submit(person, wanted, question))

    def embed_soon(self, document: Attachment) -> None:
        """Embed an uploaded document if it is long, and the account is where all questions go."""
        is_long = not document.is_picture and document.tokens >= LONG_TOKENS
        if document.owner_id and is_long and self._alone and self._is_on():
            self._add(document.owner_id, document)

    async def stop(self) -> None:
        """Drop what is left: a prompt that needs it has it embedded later."""
        self._stopped = True
        await self._tasks.cancel()

    def account_changed(self, *, alone: bool) -> None:
        """Try again at once, with the client's new account."""
        self._alone, self._paused_until = alone, 0.0

    @property
    def _model(self) -> str:
        """The id of the model, or `NO_EMBEDDINGS`. The account can change at any moment."""
        return config.embedding_model() if self._client.cloudflare else NO_EMBEDDINGS

    def _is_on(self) -> bool:
        return self._model != NO_EMBEDDINGS and not self._stopped and time.monotonic() >= self._paused_until

    def _may_embed(self, model: LlmModel) -> bool:
        """Return True if the account gets the prompt anyway."""
        return self._is_on() and not model.local and model.host is not Provider.ENDPOINT

    async def _question(self, person: int, wanted: RankingRequest) -> QuestionVector | None:
        """Return the embedding of the latest question; None if it or a document has none in time."""
        model = self._model
        absent = await run_in_db(embeddings.without, wanted.documents, model)
        for document in absent:
            self._add(person, document)
        text = _shortened(wanted.questions[0]) if wanted.questions else ""
        if absent or not text:
            return None
        try:
            async with asyncio.timeout(QUESTION_SECONDS):
                [vector] = await self._vectors(model, [text])
        except TimeoutError:
            self._paused_until = time.monotonic() + FAILURE_PAUSE_SECONDS
            logger.warning("the embedding of a question took too long; its words alone count")
        except UpstreamError as error:
            self._pause(error)
        else:
            return QuestionVector(model, vector)
        return None

    def _add(self, person: int, document: Attachment) -> None:
        known = {(each.owner_id, *key_of(each)) for _person, each in self._waiting}
        if len(self._waiting) >= MAX_WAITING_DOCUMENTS or (document.owner_id, *key_of(document)) in known:
            return
        self._waiting.append((person, document))
        if not len(self._tasks):
            self._tasks.start(log_failure(self._work(), "the embedding of documents"), "embeddings")

    async def _work(self) -> None:
        """Embed the waiting documents one after the other, of each person in turn."""
        last: int | None = None
        while self._waiting and self._is_on():
            others = (each for each in self._waiting if each[0] != last)
            last, document = chosen = next(others, self._waiting[0])
            for batch in await run_in_db(embeddings.missing, document, self._model, MAX_TEXTS):
                if not (self._is_allowed(last) and await self._embed(batch)):
                    break
            self._waiting.remove(chosen)
        self._waiting.clear()

    def _is_allowed(self, person: int) -> bool:
        """Count a batch of this person. Return False if it is one too many for a day."""
        now = time.monotonic()
        if now - self._day >= DAY_SECONDS:
            self._day, self._embedded = now, {}
        self._embedded[person] = self._embedded.get(person, 0) + 1
        return self._embedded[person] <= MAX_BATCHES_A_DAY

    async def _embed(self, batch: PassageBatch) -> bool:
        """Embed and store a batch. Return False if the rest of the document has to wait."""
        for attempt in range(1, EMBEDDING_ATTEMPTS + 1):
            model = self._model
            try:
                found = await self._vectors(model, batch.texts)
            except UpstreamError as error:
                if error.permanent or attempt == EMBEDDING_ATTEMPTS:
                    self._pause(error)
                    return False
                await asyncio.sleep(EMBEDDING_RETRY_SECONDS * attempt)
            else:
                return await run_in_db(embeddings.store_vectors, batch, model, found)
        return False

    async def _vectors(self, model: str, texts: Sequence[str]) -> list[Vector]:
        """Return the embeddings. Raises UpstreamError, also if the account was disconnected meanwhile."""
        if (cloudflare := self._client.cloudflare) is None:
            raise UpstreamError(ErrorKind.UNAVAILABLE, detail="no account is connected")
        return await cloudflare.embed(model, texts)

    def _pause(self, error: UpstreamError) -> None:
        seconds = REFUSED_SECONDS if error.permanent else FAILURE_PAUSE_SECONDS
        self._paused_until = time.monotonic() + seconds
        logger.warning("embeddings are paused for %d s: %s %s", seconds, error, error.detail)


def _shortened(question: str) -> str:
    """Return the beginning and the end of a long question: between them may be pasted text."""
    if len(question) > 2 * QUESTION_CHARS:
        question = f"{question[:QUESTION_CHARS]} {question[-QUESTION_CHARS:]}"
    return question.strip()
