"""The spans: one for each HTTP request, one for each request to a model, by OpenTelemetry's conventions.

No span holds text of a prompt or a reply, a name of a person, an address, a path (some hold the secret of a
link) or a query. https://opentelemetry.io/docs/specs/semconv/http/http-spans/ and
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
"""

from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

KNOWN_METHODS = {"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}
OTHER_METHOD = "_OTHER"
REQUEST_ID_ATTRIBUTE = "chat.telemetry.request_id"

__all__ = ["Context", "ModelSpan", "RequestSpan", "Tracer"]


class Tracer:
    """Begin spans, which `provider` exports when they have ended."""

    def __init__(self, provider: TracerProvider) -> None:
        self.provider = provider
        self._tracer = provider.get_tracer("chat")
        self._propagator = TraceContextTextMapPropagator()

    def begin_request(
        self, method: str, scheme: str, request_id: str, traceparent: str = ""
    ) -> "RequestSpan":
        """Begin the span of an HTTP request; `traceparent`: of the caller, "" if it is not trusted."""
        parent = self._propagator.extract({"traceparent": traceparent}, Context())
        known = method if method in KNOWN_METHODS else OTHER_METHOD
        attributes = {"http.request.method": known, "url.scheme": scheme, REQUEST_ID_ATTRIBUTE: request_id}
        name = "HTTP" if known == OTHER_METHOD else known
        return RequestSpan(
            name, self._tracer.start_span(name, parent, kind=SpanKind.SERVER, attributes=attributes)
        )

    def begin_model_request(
        self, operation: str, provider: str, model: str, max_tokens: int, parent: Context | None
    ) -> "ModelSpan":
        """Begin the span of one request to a model, for the request whose context is `parent`."""
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": model,
            "gen_ai.request.max_tokens": max_tokens,
        }
        name = f"{operation} {model}"
        span = self._tracer.start_span(name, parent or Context(), kind=SpanKind.CLIENT, attributes=attributes)
        return ModelSpan(span)


class RequestSpan:
    """The span of an HTTP request, from its headers to the last byte of its response."""

    def __init__(self, method: str, span: Span) -> None:
        self._method, self._span = method, span

    @property
    def context(self) -> Context:
        """The context in which further spans of this trace begin."""
        return trace.set_span_in_context(self._span, Context())

    def set_route(self, route: str) -> None:
        self._span.update_name(f"{self._method} {route}")
        self._span.set_attribute("http.route", route)

    def end(self, status: int | None) -> None:
        """`status` is None if the client left before the response began."""
        if status is not None:
            self._span.set_attribute("http.response.status_code", status)
            if status >= 500:
                self._span.set_attribute("error.type", str(status))
                self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()


class ModelSpan:
    """The span of one request to a model, from before it is sent until its response is closed."""

    def __init__(self, span: Span) -> None:
        self._span = span

    @property
    def ids(self) -> tuple[str, str] | None:
        """The ids of the trace and of this span, in hexadecimal digits; None if they are not exported."""
        if not self._span.is_recording():
            return None
        found = self._span.get_span_context()
        return trace.format_trace_id(found.trace_id), trace.format_span_id(found.span_id)

    def end(
        self, finish_reason: str, input_tokens: int | None, output_tokens: int | None, error: str
    ) -> None:
        """`error`: the kind of error, or ""; `finish_reason` is "" if none came."""
        if finish_reason:
            self._span.set_attribute("gen_ai.response.finish_reasons", [finish_reason])
        if input_tokens is not None:
            self._span.set_attribute("gen_ai.usage.input_tokens", input_tokens)
        if output_tokens is not None:
            self._span.set_attribute("gen_ai.usage.output_tokens", output_tokens)
        if error:
            self._span.set_attribute("error.type", error)
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()
