"""Ranking of long documents: off the database threads, bounded for each person, and only where needed."""

import threading
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.db.fair_executor import FairExecutor
from chat.exceptions import ServiceOverloaded
from chat.files.passages import best_passages, selection
from chat.files.passages.best_passages import (
    MAX_RANKED_QUESTIONS,
    MAX_WAITING_RANKINGS,
    Corpus,
    RankingRequest,
    rank,
)
from chat.models import Attachment, User
from chat.upstream.catalog import LlmModel
from tests.passages.stored import document

pytestmark = [
    pytest.mark.database,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("attachments"),
]
MODEL = LlmModel("@cf/a/b", "B", window=3_000)
PAGES = [f"Nothing of interest on page {number}. " * 30 for number in range(40)]
PATIENCE = 60.0  # seconds


@pytest.fixture
def report(alice: User) -> Attachment:
    return document(alice, [*PAGES, "The margin was 7.4 percent."])


@pytest.fixture
def rankers(monkeypatch: pytest.MonkeyPatch) -> FairExecutor:
    made = FairExecutor("test-ranking", 2)
    monkeypatch.setattr(best_passages, "RANKING_POOL", made)
    return made


def test_a_prompt_that_needs_passages_reads_no_text(report: Attachment) -> None:
    with CaptureQueriesContext(connection) as queries:
        wanted = selection.select([report], ["What was the margin?"], MODEL, 1_000)
    assert len(queries) == 0
    assert wanted == RankingRequest((report,), ("What was the margin?",), MODEL)


def test_passages_for_another_question_are_not_used(report: Attachment) -> None:
    ranked = rank(RankingRequest.of([report], ["What was the margin?"], MODEL))
    found = selection.select([report], ["What was the margin?"], MODEL, 1_000, ranked)
    assert [each.page for each in found.sent] == [41]
    wanted = selection.select([report], ["Who wrote it?"], MODEL, 1_000, ranked)
    assert wanted == RankingRequest((report,), ("Who wrote it?",), MODEL)


def test_a_document_that_fits_needs_no_passages(alice: User) -> None:
    short = document(alice, ["One.", "Two."])
    assert "Two." in selection.select([short], ["Which?"], MODEL, 1_000).texts[short.pk]


def test_only_the_latest_questions_are_tried(report: Attachment, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def scores(self: Corpus, question: str) -> list[float]:
        tried.append(question)
        return [0.0]

    monkeypatch.setattr(Corpus, "scores", scores)
    rank(RankingRequest.of([report], [f"zebra {number}" for number in range(500)], MODEL))
    assert tried == [f"zebra {number}" for number in range(MAX_RANKED_QUESTIONS)]


def test_a_persons_rankings_wait_for_each_other(
    report: Attachment, rankers: FairExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, running, most = threading.Event(), [0], [0]
    real = best_passages.rank

    def slow(wanted: RankingRequest, question: Any) -> Any:
        running[0] += 1
        most[0] = max(most[0], running[0])
        gate.wait(PATIENCE)
        running[0] -= 1
        return real(wanted)

    wanted = RankingRequest.of([report], ["margin"], MODEL)
    monkeypatch.setattr(best_passages, "rank", slow)
    hers = [best_passages.submit(1, wanted) for _ in range(1 + MAX_WAITING_RANKINGS)]
    with pytest.raises(ServiceOverloaded):
        best_passages.submit(1, wanted)
    his = rankers.submit(2, real, wanted)
    assert his.result(PATIENCE).passages
    gate.set()
    assert all(each.result(PATIENCE).passages for each in hers)
    assert most == [1]
