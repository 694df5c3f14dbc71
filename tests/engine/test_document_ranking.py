"""Long documents are compared with questions by embeddings of the account, and by their words without."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from chat.db.executor import run_in_db
from chat.engine import document_ranking
from chat.engine.document_ranking import DocumentRanking
from chat.files import deletion
from chat.files.passages import best_passages, embeddings
from chat.files.passages.best_passages import Ranked, RankingRequest
from chat.models import Attachment, AttachmentFile, PassageVectors, User
from chat.upstream.catalog import LlmModel, Provider
from chat.upstream.providers.cloudflare_api import MAX_TEXTS, Cloudflare
from tests.fake_cloudflare.embeddings import BROKEN, BUSY
from tests.fake_cloudflare.server import TOKEN, WorkersAI
from tests.passages.stored import document
from tests.support.db_threads import close_connections
from tests.upstream.asking import with_fake

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
BGE = "@cf/baai/bge-m3"
HOSTED = LlmModel("@cf/a/b", "B", window=3_000)
QUESTION = "Vacation days?"
FILLER = "It is about the days with rain in this place. " * 30
PATIENCE = 60.0  # seconds


@pytest.fixture(autouse=True)
def folder(attachments: Any) -> None:
    pass


@pytest.fixture(autouse=True)
def model(settings: Any) -> None:
    settings.EMBEDDING_MODEL = BGE


@pytest.fixture
def report(alice: User) -> Attachment:
    """Hold the sought passage on page 50 of 60, in words that the question does not have."""
    pages = [FILLER] * 60
    pages[49] = "Holidays: thirty."
    return document(alice, pages)


@asynccontextmanager
async def ranking(
    *, alone: bool = True, token: str = TOKEN
) -> AsyncIterator[tuple[DocumentRanking, WorkersAI]]:
    async with with_fake(token) as (client, fake):
        made = DocumentRanking(client, alone=alone)
        try:
            yield made, fake
        finally:
            await made.stop()
            await close_connections()


def needed(*documents: Attachment, question: str = QUESTION, model: LlmModel = HOSTED) -> RankingRequest:
    return RankingRequest.of(documents, [question], model)


def pages(ranked: Ranked) -> list[int]:
    return [passage.page for _document, passage in ranked.passages]


async def until_embedded(made: DocumentRanking) -> None:
    async with asyncio.timeout(PATIENCE):
        await made._tasks.wait(PATIENCE)


def texts(fake: WorkersAI) -> list[list[str]]:
    return [call["body"]["text"] for call in fake.calls]


async def test_a_passage_is_found_by_what_it_means(alice: User, report: Attachment) -> None:
    async with ranking() as (made, fake):
        before = await made.rank(alice.pk, needed(report))
        assert 50 not in pages(before)
        await until_embedded(made)
        assert [len(each) for each in texts(fake)] == [60 - MAX_TEXTS, MAX_TEXTS]
        after = await made.rank(alice.pk, needed(report))
        assert texts(fake)[-1] == [QUESTION]
    assert pages(after).index(50) < 20


async def test_a_long_document_is_embedded_once_after_its_upload(alice: User, report: Attachment) -> None:
    report.tokens = document_ranking.LONG_TOKENS
    again = await run_in_db(document, alice, ["Short."])
    async with ranking() as (made, fake):
        made.embed_soon(again)
        assert not len(made._tasks)
        for _ in range(3):
            made.embed_soon(report)
        await until_embedded(made)
        made.embed_soon(report)
        await until_embedded(made)
        assert sum(map(len, texts(fake))) == 60


async def test_an_upload_sends_nothing_on_a_site_with_other_servers(report: Attachment) -> None:
    report.tokens = document_ranking.LONG_TOKENS
    async with ranking(alone=False) as (made, fake):
        made.embed_soon(report)
        await until_embedded(made)
        assert fake.calls == []


@pytest.mark.parametrize(
    "model",
    [
        LlmModel("local/a", "A", window=3_000, local=True),
        LlmModel("small-1", "S", window=3_000, host=Provider.ENDPOINT),
    ],
    ids=["local", "endpoint"],
)
async def test_nothing_is_sent_for_a_model_elsewhere(
    alice: User, report: Attachment, model: LlmModel
) -> None:
    async with ranking() as (made, fake):
        assert (await made.rank(alice.pk, needed(report, model=model))).passages
        await until_embedded(made)
        assert fake.calls == []


async def test_nothing_is_sent_where_it_is_turned_off(alice: User, report: Attachment, settings: Any) -> None:
    settings.EMBEDDING_MODEL = "none"
    report.tokens = document_ranking.LONG_TOKENS
    async with ranking() as (made, fake):
        made.embed_soon(report)
        assert (await made.rank(alice.pk, needed(report))).passages
        await until_embedded(made)
        assert fake.calls == []


async def test_a_slow_embedding_does_not_hold_up_the_question(
    alice: User, report: Attachment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its words alone count, and the next question does not wait for another one."""
    models: list[str] = []

    async def never(self: Cloudflare, model: str, texts: list[str]) -> list[list[float]]:
        models.append(model)
        await asyncio.sleep(PATIENCE)
        return []

    async with ranking() as (made, _fake):
        await made.rank(alice.pk, needed(report))
        await until_embedded(made)
        monkeypatch.setattr(Cloudflare, "embed", never)
        monkeypatch.setattr(document_ranking, "QUESTION_SECONDS", 0.05)
        for _ in range(2):
            assert 50 not in pages(await made.rank(alice.pk, needed(report)))
    assert models == [BGE]


@pytest.mark.parametrize("failure", [BROKEN, BUSY])
async def test_a_failed_embedding_leaves_the_words(
    alice: User, failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_ranking, "EMBEDDING_RETRY_SECONDS", 0.01)
    broken = await run_in_db(document, alice, [f"{FILLER} {failure}", "The margin."] * 20)
    async with ranking() as (made, fake):
        found = await made.rank(alice.pk, needed(broken, question="margin"))
        await until_embedded(made)
        assert pages(found)[0] == 2
        assert len(fake.calls) == document_ranking.EMBEDDING_ATTEMPTS
        assert pages(await made.rank(alice.pk, needed(broken, question="margin")))[0] == 2
        await until_embedded(made)
        assert len(fake.calls) == document_ranking.EMBEDDING_ATTEMPTS  # paused
    assert not await run_in_db(PassageVectors.objects.exists)


async def test_a_refused_token_is_not_tried_again(alice: User, report: Attachment) -> None:
    async with ranking(token="wrong") as (made, fake):
        for _ in range(3):
            assert (await made.rank(alice.pk, needed(report))).passages
            await until_embedded(made)
        assert len(fake.calls) == 1


async def test_a_day_has_room_for_so_much_of_one_person(
    alice: User, report: Attachment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_ranking, "MAX_BATCHES_A_DAY", 1)
    bob = await run_in_db(User.objects.create_user, "bob")
    his = await run_in_db(document, bob, [FILLER + "his"])
    async with ranking() as (made, fake):
        await made.rank(alice.pk, needed(report))
        await made.rank(bob.pk, needed(his))
        await until_embedded(made)
        assert [len(each) for each in texts(fake)] == [60 - MAX_TEXTS, 1]


async def test_long_questions_are_shortened(alice: User, report: Attachment) -> None:
    async with ranking() as (made, fake):
        await made.rank(alice.pk, needed(report))
        await until_embedded(made)
        await made.rank(alice.pk, needed(report, question=f"{QUESTION} {'x' * 200_000} And why?"))
        [sent] = texts(fake)[-1]
    assert sent.startswith(QUESTION)
    assert sent.endswith("And why?")
    assert len(sent) <= 2 * document_ranking.QUESTION_CHARS + 1


def embedded(
    report: Attachment, fail: Callable[[embeddings.PassageBatch], bool] = lambda batch: False
) -> None:
    for batch in embeddings.missing(report, BGE, MAX_TEXTS):
        if fail(batch):
            return
        assert embeddings.store_vectors(batch, BGE, [[1.0, 0.0]] * len(batch.texts))


def test_a_document_with_some_embeddings_counts_as_one_without(report: Attachment) -> None:
    embedded(report, lambda batch: batch.start == 0)
    assert embeddings.without([report], BGE) == [report]
    question = embeddings.QuestionVector(BGE, [1.0, 0.0])
    wanted = RankingRequest.of([report], ["zebra"], HOSTED)
    assert best_passages.rank(wanted, question) == best_passages.rank(wanted)
    embedded(report)
    assert embeddings.without([report], BGE) == []
    assert best_passages.rank(wanted, question) != best_passages.rank(wanted)


async def test_the_embeddings_of_others_save_no_call(alice: User, report: Attachment) -> None:
    """Whether another person has the same bytes shows neither by calls nor by the time until they count."""
    bob = await run_in_db(User.objects.create_user, "bob")
    async with ranking() as (made, fake):
        await made.rank(alice.pk, needed(report))
        await until_embedded(made)
        hers = texts(fake)
        his = await run_in_db(copied, report, bob)
        found = await made.rank(bob.pk, needed(his))
        assert 50 not in pages(found)
        await until_embedded(made)
        assert texts(fake) == hers * 2
        assert 50 in pages(await made.rank(bob.pk, needed(his)))
        again = await run_in_db(copied, report, bob)
        await made.rank(bob.pk, needed(again))
        await until_embedded(made)
        assert len(texts(fake)) == 2 * len(hers) + 2  # the two questions


def copied(report: Attachment, owner: User) -> Attachment:
    made = report.copy(owner_id=owner.pk, message_id=None, position=0)
    made.save()
    return made


def test_embeddings_go_with_their_file(report: Attachment) -> None:
    [*_, last] = embeddings.missing(report, BGE, MAX_TEXTS)
    embedded(report)
    Attachment.objects.all().delete()
    AttachmentFile.objects.update(uploaded="2026-01-01T00:00Z")
    assert deletion.delete_unused(deletion.unused(), lambda: False) == 1
    assert not PassageVectors.objects.exists()
    assert not embeddings.store_vectors(last, BGE, [[1.0]] * len(last.texts))
    assert not PassageVectors.objects.exists()
