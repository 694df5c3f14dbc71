"""Responses of all dialects: errors, JSON and event streams."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from functools import wraps
from typing import Any, Protocol

from django.db.utils import Error
from django.http import HttpRequest, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from chat.db_errors import unavailable
from chat.engine.generation.api_calls import ActiveCall, CallAborted
from chat.exceptions import RequestError
from chat.upstream.errors import UpstreamError
from chat.wire import sse
from chat.wire.frames import Delta

from .errors import ApiError, MethodNotAllowed, error_of, headers
from .response_headers import call_headers

View = Callable[..., Coroutine[Any, Any, HttpResponseBase]]
Failure = Callable[[ApiError], tuple[int, dict[str, Any]]]
STREAM = {
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
    "Content-Encoding": "identity",
}


class StreamFormat(Protocol):
    """A dialect's frames of one response, as bytes. Constant parts are encoded once, not for each token."""

    def first(self) -> bytes:
        """Return the frames before the first delta."""

    def delta(self, delta: Delta) -> bytes:
        """Return the frames of a delta."""

    def last(self) -> bytes:
        """Return the end of a complete reply: tool calls, finish reason and usage, without `[DONE]`."""

    def failure(self, problem: ApiError) -> bytes:
        """Return the frame of an error, which ends the stream."""


def api_view(failure: Failure, *methods: str) -> Callable[[View], View]:
    """Allow only these methods, and turn errors into the dialect's envelope.

    The view is exempt from the CSRF check, because the API accepts no cookies.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        async def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            try:
                if request.method not in methods:
                    raise MethodNotAllowed(_("This address does not take this method."))
                return await view(request, *args, **kwargs)
            except (RequestError, UpstreamError, CallAborted) as error:
                problem = error_of(error)
            except Error as error:
                problem = error_of(unavailable(error))
            response = error_response(failure, problem)
            if problem.status == MethodNotAllowed.status:
                response["Allow"] = ", ".join(methods)
            return response

        guarded.csrf_exempt = True  # type: ignore[attr-defined]  # Django's own mark
        return guarded

    return decorate


def error_response(failure: Failure, problem: ApiError) -> JsonResponse:
    status, body = failure(problem)
    return json_response(body, status=status, headers=headers(problem))


def json_response(body: dict[str, Any], **options: Any) -> JsonResponse:
    response = JsonResponse(body, json_dumps_params={"ensure_ascii": False}, **options)
    response["Cache-Control"] = "no-store"
    return response


async def whole(exchange: ActiveCall) -> tuple[str, str]:
    """Return (text, reasoning) of the complete reply. Raises UpstreamError and CallAborted."""
    async with aclosing(exchange.deltas()) as deltas:
        said = [delta async for delta in deltas]
    return "".join(delta.text for delta in said), "".join(delta.reasoning for delta in said)


async def stream(exchange: ActiveCall, frames: StreamFormat) -> "EventStream":
    """Return an event stream once the first delta is there: a failure before it still gets its own status.

    Raises UpstreamError and CallAborted.
    """
    deltas = exchange.deltas()
    first = await anext(deltas, None)
    return EventStream(exchange, deltas, _stream(deltas, first, frames))


async def _stream(
    deltas: AsyncGenerator[Delta, None], first: Delta | None, frames: StreamFormat
) -> AsyncGenerator[bytes, None]:
    async with aclosing(deltas):
        try:
            yield frames.first() + (frames.delta(first) if first else b"")
            async for delta in deltas:
                yield frames.delta(delta)
        except (UpstreamError, CallAborted) as error:
            yield frames.failure(error_of(error))
            return
        yield frames.last() + sse.DONE


class EventStream(StreamingHttpResponse):
    """Pass the frames on as they are. Closing it ends the call even if it was never iterated."""

    def __init__(
        self, exchange: ActiveCall, deltas: AsyncGenerator[Delta, None], frames: AsyncGenerator[bytes, None]
    ) -> None:
        self._exchange, self._deltas, self._frames = exchange, deltas, frames
        super().__init__(frames, content_type="text/event-stream", headers=STREAM)
        for name, value in call_headers(exchange).items():
            self[name] = value

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._frames

    def close(self) -> None:
        super().close()
        if self._exchange.stored is None:
            self._exchange.abandon(self._deltas)
