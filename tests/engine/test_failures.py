"""Each row of Cloudflare's tables of errors, up to the stored run: status, code, sentence, calls."""

import uuid
from functools import partial
from typing import Any

import pytest
from django.test import override_settings

from chat.conversations.turns.commands import SendMessage
from chat.db.executor import run_in_db
from chat.engine.engine import Engine
from chat.engine.outcome import EMPTY_TEXT, FILTERED_TEXT
from chat.models import Run, User
from chat.upstream.errors import ERROR_SENTENCES, SENTENCES_OF_CODES, ErrorKind
from tests.fake_cloudflare.server import Fake
from tests.support.waiting import becomes
from tests.upstream.asking import runs
from tests.upstream.error_codes import CODES

pytestmark = pytest.mark.django_db(transaction=True)
FIRST, SECOND = "@cf/zai-org/glm-4.7-flash", "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
# The fake's words for 3030 are those of a full window; a safety filter's are tested with the errors.
ROWS = [(code, http, ErrorKind.TOO_LONG if code == 3030 else kind) for code, http, kind, _ in CODES]
TWICE_MORE = {ErrorKind.BUSY, ErrorKind.TIMEOUT, ErrorKind.UNAVAILABLE}  # what is asked again
REPLACED = {
    *TWICE_MORE,
    ErrorKind.THROTTLED,
    ErrorKind.QUOTA,
    ErrorKind.UNKNOWN_MODEL,
}  # where another model answers


async def ended(fake: Fake, question: str, **settings: Any) -> Run:
    """The stored run of that question, asked of a site with these settings. `fake.calls` are its own."""
    base = {"CLOUDFLARE_ACCOUNT_ID": "acc", "CLOUDFLARE_API_TOKEN": "fake-token", "DEFAULT_MODEL": FIRST}
    fake.clear()
    with override_settings(CLOUDFLARE_API_BASE_URL=fake.base_url, **base, **settings):
        engine = Engine()  # it remembers which models fail
        await engine.start()
        try:
            alice, _ = await run_in_db(partial(User.objects.get_or_create, username="alice"))
            turn = SendMessage(content=question, client_key=uuid.uuid4())
            opened = await run_in_db(engine.turn_store.store, alice, turn, queued=False)
            state = await engine.launch(opened)
            await becomes(lambda: state.outcome)
            return await run_in_db(Run.objects.select_related("message").get, pk=opened.run.pk)
        finally:
            await engine.drain(0)


def question(code: int, http: int, kind: ErrorKind) -> str:
    """Let the first model fail in this way. A retry waits for no time, to keep the tests short."""
    at_once = " retry_after=0" if kind in TWICE_MORE else ""
    return f"fake: words tokens=2\nfake for glm-4.7-flash: status code={code} http={http}{at_once}"


async def test_each_error_of_cloudflare_fails_the_run_in_its_own_words(fake: Fake) -> None:
    for code, http, kind in ROWS:
        run = await ended(fake, question(code, http, kind))
        sentence = SENTENCES_OF_CODES.get(str(code), ERROR_SENTENCES[kind])
        told = (run.status, run.error_code, run.error_message)
        assert told == ("failed", kind.value, sentence), (code, http)
        assert len(runs(fake)) == (3 if kind in TWICE_MORE else 1), (code, http)
        assert (run.answered_by, run.fallback_reason, run.message.text) == ("", "", ""), (code, http)
        assert run.request_id, (code, http)
        waits = kind in {ErrorKind.THROTTLED, ErrorKind.QUOTA}
        assert (run.retry_at is not None) == waits, (code, http)


async def test_another_model_answers_where_that_helps_and_nowhere_else(fake: Fake) -> None:
    for code, http, kind in ROWS:
        run = await ended(fake, question(code, http, kind), FALLBACK_MODELS=[SECOND])
        models = [call["path"].partition("/ai/run/")[2] for call in runs(fake)]
        told = (run.status, run.error_code, run.message.text.split())
        if kind in REPLACED:
            tries = 3 if kind in TWICE_MORE - {ErrorKind.BUSY} else 1
            assert models == [FIRST] * tries + [SECOND], (code, http)
            assert told == ("complete", "", ["word1", "word2"]), (code, http)
            by = (run.model, run.answered_by, run.fallback_reason, run.message.model)
            assert by == (FIRST, SECOND, kind.value, SECOND), (code, http)
        else:
            assert (*told, models) == ("failed", kind.value, [], [FIRST]), (code, http)
            assert run.message.model == FIRST, (code, http)


async def test_a_content_filter_ends_in_words(fake: Fake) -> None:
    run = await ended(fake, "fake: filtered tokens=2")
    assert (run.status, run.error_code, run.finish_reason) == ("failed", "blocked", "content_filter")
    assert run.error_message == FILTERED_TEXT
    assert run.message.text == "word1 word2", "what had come is kept"
    assert run.completion_tokens == 2


async def test_a_reply_without_a_word_ends_in_words(fake: Fake) -> None:
    run = await ended(fake, "fake: empty")
    assert (run.status, run.error_code, run.error_message) == ("complete", "empty", EMPTY_TEXT)
