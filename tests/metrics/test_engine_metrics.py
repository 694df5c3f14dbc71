"""The metrics of one process: a bounded number of labels, and gauges that follow its parts."""

from typing import Any

import pytest
from prometheus_client import generate_latest

from chat.engine.metrics import EngineMetrics
from chat.engine.outcome import RunOutcome
from chat.models import Call
from chat.telemetry.metrics import definitions
from chat.upstream.errors import ErrorKind
from chat.upstream.routing.circuit_breaker import FAILURE_THRESHOLD, NOBODY
from chat.wire.usage import Usage
from tests.engine.in_process import running_engine
from tests.fake_cloudflare.server import Fake
from tests.metrics.scrape import samples, total
from tests.support.manage import run_manage


def shown() -> Any:
    return samples(generate_latest(definitions.REGISTRY).decode())


def test_a_model_that_the_catalog_does_not_know_is_other() -> None:
    metrics = EngineMetrics(lambda model: model == "known")
    before = shown()
    for name in ("known", "typed/by-somebody", "another"):
        call = Call(model=name)
        metrics.count_call(call, RunOutcome("complete", usage=Usage(5, 7, 2, 0.5)))
    after = shown()

    def more(name: str, **labels: str) -> float:
        return total(after, name, **labels) - total(before, name, **labels)

    assert more("chat_api_calls_total", model="known", outcome="complete") == 1
    assert more("chat_api_calls_total", model="other", outcome="complete") == 2
    assert more("chat_tokens_total", kind="prompt") == 15
    assert more("chat_tokens_total", kind="completion") == 21
    assert more("chat_cached_prompt_tokens_total") == 6
    assert more("chat_neurons_total") == pytest.approx(1.5)
    assert {dict(labels)["model"] for name, labels in after if name == "chat_tokens_total"} == {
        "known",
        "other",
    }


@pytest.mark.django_db(transaction=True)
async def test_gauges_follow_breakers_and_draining(fake: Fake, settings: Any) -> None:
    settings.METRICS_TOKEN = "a-token-of-thirty-two-characters"
    async with running_engine(fake) as engine:
        assert engine.metrics
        model = engine.catalog.default
        breaker = engine.router.breaker(model)
        for _ in range(FAILURE_THRESHOLD):
            breaker.record_failure(ErrorKind.UNAVAILABLE, NOBODY)
        engine.metrics.sample(engine)
        assert total(shown(), "chat_open_circuit_breakers", model=model.id) == 1
        assert total(shown(), "chat_rate_limiter_max_requests") == settings.REQUESTS_PER_MINUTE
        assert total(shown(), "chat_workers", state="serving") == 1
        breaker.record_success(NOBODY)
        engine.metrics.sample(engine)
        assert total(shown(), "chat_open_circuit_breakers") == 0
    assert total(shown(), "chat_workers", state="serving") == 0
    assert total(shown(), "chat_workers", state="draining") == 1


def test_without_a_setting_the_library_is_not_loaded() -> None:
    """A process of its own, because this one has loaded it."""
    code = "import sys, chatsite.asgi, chatsite.urls, chat.engine.engine as e; e.Engine; e._metrics();"
    code += "print([name for name in sys.modules if name.startswith('prometheus')])"
    assert run_manage("shell", "-v0", "-c", code, afresh=True).stdout == "[]\n"
    done = run_manage("shell", "-v0", "-c", code, afresh=True, METRICS_BIND="127.0.0.1:9100")
    assert "'prometheus_client.metrics'" in done.stdout
