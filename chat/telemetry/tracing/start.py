"""Start and stop the export of traces. The standard OTEL_ variables decide where they go."""

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec

from chat.telemetry import tracing

PACKAGES = ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http")
PROTOCOL = "http/protobuf"
PROTOCOL_VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
FLUSH_MILLISECONDS = 3_000


def problems(variable: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield why traces cannot be sent, and what to do. `variable` returns the value of a name, or ""."""
    if not all(map(_is_installed, PACKAGES)):
        yield (
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages that send traces are missing.",
            "Run `make install-otel`, or leave the setting out.",
        )
    for name in PROTOCOL_VARIABLES:
        value = variable(name)
        if value not in ("", PROTOCOL):
            yield f"{name} is {value[:40]!r}.", f"Write {PROTOCOL}, or leave it out."


def start(service_name: str, instance: str) -> None:
    """Begin to trace in this process, after any fork: spans are sent by a thread.

    OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES replace `service_name`. `instance`: the id of this process.
    """
    if os.environ.get("OTEL_TRACES_EXPORTER", "").strip() == "none":
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from chat.telemetry.tracing.spans import Tracer

    ours = Resource({"service.name": service_name, "service.instance.id": instance})
    provider = TracerProvider(
        resource=Resource.create().merge(ours).merge(OTELResourceDetector().detect()), shutdown_on_exit=False
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracing.tracer = Tracer(provider)


def stop() -> None:
    """Send the spans that are left, for a few seconds at most."""
    if tracing.tracer:
        tracing.tracer.provider.force_flush(FLUSH_MILLISECONDS)
        tracing.tracer = None


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False
