"""Every metric of the chat; `deploy/metrics.md` describes them, and a test compares the two.

Labels take values from short lists: models of the catalog (else `OTHER_MODEL`), statuses, error kinds,
names of thread pools. None says who asked or what was said. A gauge of several workers is their sum or their
maximum, of live workers only. Do not import this before `shared_files.prepare()`: the library reads the
folder's name once.
"""

import platform
import tomllib

import django
from django.conf import settings
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

OTHER_MODEL = "other"
FIRST_TOKEN_BUCKETS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
DURATION_BUCKETS = (1, 2.5, 5, 10, 30, 60, 120, 300, 600)
DELAY_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)

disable_created_metrics()  # several processes cannot export these
REGISTRY = CollectorRegistry()


def _counter(name: str, text: str, *labels: str) -> Counter:
    return Counter(name, text, labels, registry=REGISTRY)


def _gauge(name: str, text: str, *labels: str, maximum: bool = False) -> Gauge:
    """Return a gauge that shows the sum over all live workers, or their maximum."""
    mode = "livemax" if maximum else "livesum"
    return Gauge(name, text, labels, registry=REGISTRY, multiprocess_mode=mode)  # type: ignore[arg-type]


def _histogram(name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
    return Histogram(name, text, labels, buckets=buckets, registry=REGISTRY)


runs = _counter("chat_runs_total", "Replies in the chat that ended.", "model", "outcome")
api_calls = _counter("chat_api_calls_total", "Calls of the API that ended.", "model", "outcome")
first_token = _histogram(
    "chat_first_token_seconds",
    "Time from a question to the first token of its reply, with waiting.",
    FIRST_TOKEN_BUCKETS,
    "model",
)
run_duration = _histogram(
    "chat_run_duration_seconds", "Time from a question to the end of its reply.", DURATION_BUCKETS
)
tokens = _counter(
    "chat_tokens_total", "Tokens of ended replies and calls, as upstream counts.", "model", "kind"
)
cached_tokens = _counter(
    "chat_cached_prompt_tokens_total", "Prompt tokens that upstream took from a cache.", "model"
)
neurons = _counter("chat_neurons_total", "Neurons that Cloudflare billed.", "model")
upstream_attempts = _counter(
    "chat_upstream_attempts_total", "Requests sent to a model, retries included.", "model", "result"
)

live_runs = _gauge("chat_live_runs", "Replies whose outcome is not stored yet.")
live_api_calls = _gauge("chat_live_api_calls", "API calls in progress.")
queued_requests = _gauge("chat_queued_requests", "Requests that wait for their turn.", "reason")
open_breakers = _gauge(
    "chat_open_circuit_breakers", "Workers that pause requests to this model after failures.", "model"
)
open_quota_breakers = _gauge(
    "chat_open_quota_breakers", "Workers that found the account's daily allowance used up."
)
limiter_requests = _gauge(
    "chat_rate_limiter_requests", "Requests to the account in the last 60 seconds, local model excluded."
)
limiter_maximum = _gauge(
    "chat_rate_limiter_max_requests", "Most requests to the account in 60 seconds.", maximum=True
)
limiter_lowered = _gauge(
    "chat_rate_limiter_lowered_models", "Models whose limit was lowered after rejections.", maximum=True
)
viewers = _gauge("chat_viewers", "Open streams.")
writers_behind = _gauge("chat_writers_behind", "Workers that pause replies because text cannot be stored.")

database_wait = _histogram(
    "chat_database_wait_seconds", "Time that database work waits for a thread.", DELAY_BUCKETS, "pool"
)
database_call = _histogram(
    "chat_database_call_seconds", "Time that database work takes in its thread.", DELAY_BUCKETS, "pool"
)
loop_delay = _histogram(
    "chat_event_loop_delay_seconds", "How late a timer of the event loop fires.", DELAY_BUCKETS
)
cpu = _counter("chat_cpu_seconds_total", "CPU time of the processes that serve.")
workers = _gauge("chat_workers", "Processes that serve, by state.", "state")
worker_failures = _counter("chat_worker_failures_total", "Workers that ended without being told to.")
build_info = _gauge(
    "chat_build_info", "Always 1; the labels tell what runs.", "version", "python", "django", maximum=True
)


def set_build_info() -> None:
    build_info.labels(_version(), platform.python_version(), django.get_version()).set(1)


def _version() -> str:
    try:
        with (settings.BASE_DIR / "pyproject.toml").open("rb") as file:
            return str(tomllib.load(file)["project"]["version"])
    except FileNotFoundError:  # an image may leave it out
        return "unknown"
