"""Traces reach a collector by OTLP, by OpenTelemetry's conventions, and hold nothing that a person wrote."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chat.telemetry.tracing import start
from chatsite import env
from tests.conftest import missing
from tests.fake_cloudflare.server import Fake
from tests.support.manage import run_manage
from tests.support.server import Server
from tests.support.waiting import until
from tests.tracing.collector import Collector, SpanRecord, collecting

MODEL = "@cf/zai-org/glm-4.7-flash"
SOON = {"OTEL_BSP_SCHEDULE_DELAY": "100"}  # milliseconds until spans are sent; 5 seconds by default
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = {"traceparent": f"00-{TRACE}-{CALLER}-01"}


@pytest.fixture
def collector() -> Iterator[Collector]:
    if list(start.problems(env.library_variable)):
        missing("OpenTelemetry", "run `make install-otel`")
    with collecting() as found:
        yield found


@pytest.fixture
def traced(servers: Callable[..., Server], collector: Collector) -> Callable[..., Server]:
    """Start servers that send their traces to the collector."""
    return lambda **env: servers(**({"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url} | SOON | env))


def one(collector: Collector, name: str) -> SpanRecord:
    """Wait for the only span of this name."""
    until(lambda: collector.named(name))
    (span,) = collector.named(name)
    return span


def test_a_reply_is_a_span_in_the_trace_of_its_request(
    traced: Callable[..., Server], collector: Collector
) -> None:
    server = traced()
    stream = server.person("alice").asked("A secret question\nfake: words tokens=3 delay=0")
    request, reply = one(collector, "POST /c/"), one(collector, f"chat {MODEL}")
    assert (request.kind, reply.kind) == (2, 3)
    assert request.parent == ""
    assert (reply.trace, reply.parent) == (request.trace, request.id)
    assert request.attributes == {
        "http.request.method": "POST",
        "http.route": "/c/",
        "http.response.status_code": 200,
        "url.scheme": "http",
        "chat.telemetry.request_id": stream.response.headers["X-Request-ID"],
    }
    usage = stream.done["usage"]
    assert reply.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "cloudflare.workers_ai",
        "gen_ai.request.model": MODEL,
        "gen_ai.request.max_tokens": reply.attributes["gen_ai.request.max_tokens"],
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": usage["prompt_tokens"],
        "gen_ai.usage.output_tokens": usage["completion_tokens"],
    }
    assert reply.resource["service.name"] == "chat"
    assert uuid.UUID(reply.resource["service.instance.id"])
    for text in (b"secret", b"word1", b"alice", stream.conversation.encode()):
        assert not any(text in body for body in collector.bodies)


def test_a_reply_is_traced_to_its_end_although_its_page_has_gone(
    traced: Callable[..., Server], collector: Collector
) -> None:
    server = traced()
    with server.person("alice").ask("fake: words tokens=30 delay=0.05") as stream:
        stream.until(1)
    request, reply = one(collector, "POST /c/"), one(collector, f"chat {MODEL}")
    assert reply.trace == request.trace
    assert reply.attributes["gen_ai.usage.output_tokens"] == 30
    assert reply.seconds > request.seconds
    assert not reply.failed


def test_each_try_and_its_error_is_a_span(traced: Callable[..., Server], collector: Collector) -> None:
    server = traced()
    stream = server.person("alice").asked("fake: error status=400 code=5006")
    assert stream.done["status"] == "failed"
    reply = one(collector, f"chat {MODEL}")
    assert reply.failed
    assert reply.attributes["error.type"]
    assert "gen_ai.usage.output_tokens" not in reply.attributes


def test_a_call_of_the_api_is_traced(traced: Callable[..., Server], collector: Collector) -> None:
    server = traced()
    wanted = {"name": "a program", "run": True, "days": "never", "password": "correct horse battery"}
    key = server.person("alice").post("/settings/keys/", wanted).json()["key"]
    body = {"model": MODEL, "messages": [{"role": "user", "content": "fake: words tokens=2 delay=0"}]}
    headers = {"Authorization": f"Bearer {key}"}
    assert server.person("").post("/v1/chat/completions", body, headers=headers).status_code == 200
    request, reply = one(collector, "POST /v1/chat/completions"), one(collector, f"chat {MODEL}")
    assert (reply.trace, reply.parent) == (request.trace, request.id)


def test_a_refused_request_has_its_status_and_no_path(
    traced: Callable[..., Server], collector: Collector
) -> None:
    server = traced()
    person = server.person("alice")
    for path in ("/readyz", "/static/none.css", f"/c/{uuid.uuid4()}/?q=secret"):
        person.get(path)
    person.client.request("SECRET", "/nowhere/secret/")
    missed = one(collector, "GET /c/<uuid:conversation>/")
    assert missed.attributes["http.response.status_code"] == 404
    assert not missed.failed
    odd = one(collector, "HTTP")
    assert odd.attributes["http.request.method"] == "_OTHER"
    assert {span.name for span in collector.spans} == {missed.name, odd.name}
    assert not any(b"secret" in body.lower() for body in collector.bodies)


@pytest.mark.parametrize("proxies", ["0", "1"])
def test_only_the_trace_of_the_sites_own_proxy_goes_on(
    traced: Callable[..., Server], collector: Collector, proxies: str
) -> None:
    server = traced(TRUSTED_PROXY=proxies)
    server.person("alice").get("/accounts/password/", headers=TRACEPARENT)
    request = one(collector, "GET /accounts/password/")
    taken = (request.trace, request.parent) == (TRACE, CALLER)
    assert taken == (proxies == "1")
    assert taken or request.parent == ""


@pytest.mark.parametrize("gateway", ["", "ours"])
def test_a_gateway_learns_the_trace_and_nobody_else(
    traced: Callable[..., Server], collector: Collector, fake: Fake, gateway: str
) -> None:
    server = traced(AI_GATEWAY_ID=gateway)
    server.person("alice").asked("fake: words tokens=2 delay=0")
    reply = one(collector, f"chat {MODEL}")
    (call,) = [call for call in fake.calls if call["method"] == "POST"]
    told = {name: value for name, value in call["headers"].items() if "trace" in name or "otel" in name}
    joined = {"cf-aig-otel-trace-id": reply.trace, "cf-aig-otel-parent-span-id": reply.id}
    assert told == (joined if gateway else {})


def test_workers_send_theirs_and_what_is_left_at_the_end_is_sent(
    traced: Callable[..., Server], collector: Collector
) -> None:
    later = {"OTEL_BSP_SCHEDULE_DELAY": "600000"}
    server = traced(arguments=("--workers", "2"), OTEL_SERVICE_NAME="talk", **later)
    for _ in range(8):
        server.person("alice").get("/")
    assert not collector.spans
    assert server.terminate() == 0
    assert len(collector.named("GET /")) == 8
    assert {span.resource["service.name"] for span in collector.spans} == {"talk"}


def test_a_collector_that_is_away_delays_nobody(servers: Callable[..., Server]) -> None:
    if list(start.problems(env.library_variable)):
        missing("OpenTelemetry", "run `make install-otel`")
    server = servers(OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9", **SOON)
    stream = server.person("alice").asked("fake: words tokens=3 delay=0")
    assert stream.done["status"] == "complete"
    assert server.terminate() == 0


def test_without_the_extra_the_start_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "PACKAGES", ("opentelemetry.no_such_package",))
    ((error, hint),) = start.problems(env.library_variable)
    assert "packages that send traces are missing" in error
    assert "make install-otel" in hint


def test_another_protocol_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run_manage(
        "check", OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:4318", OTEL_EXPORTER_OTLP_PROTOCOL="grpc"
    )
    assert done.returncode == 1
    assert "OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc'." in done.stderr
    assert "Write http/protobuf" in done.stderr


def test_a_server_without_traces_does_not_load_the_library(server: Server) -> None:
    assert server.process
    maps = Path(f"/proc/{server.process.pid}/maps").read_text("utf-8")
    assert "uvloop" in maps
    assert "google/_upb" not in maps
