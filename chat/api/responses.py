"""Responses of all dialects: errors, JSON and event streams."""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from functools import wraps
from typing import Any, Protocol

from django.db.utils import Error
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from chat.db_errors import unavailable
from chat.engine.generation.api_calls import ActiveCall, CallAborted
from chat.event_stream import EventStreamResponse
from chat.exceptions import RequestError
from chat.upstream.errors import UpstreamError
from chat.wire import sse
from chat.wire.frames import Delta

from .errors import ApiError, MethodNotAllowed, error_headers, error_of
from .response_headers import call_headers

ApiView = Callable[..., Coroutine[Any, Any, HttpResponseBase]]
# Returns (HTTP status, body) of an error in one dialect.
ErrorEnvelope = Callable[[ApiError], tuple[int, dict[str, Any]]]


class StreamFormat(Protocol):
    """A dialect's frames of one response, as bytes. Constant parts are encoded once, not for each token."""

    def first(self) -> bytes:
        """Return the frames before the first delta."""

    def delta(self, delta: Delta) -> bytes:
        """Return the frames of a delta."""

    def last(self) -> bytes:
        """Return the end of a complete reply: tool calls, finish reason and usage, without `[DONE]`."""

    def error(self, problem: ApiError) -> bytes:
        """Return the frame of an error, which ends the stream."""


def api_view(envelope: ErrorEnvelope, *methods: str) -> Callable[[ApiView], ApiView]:
    """Allow only these methods, and turn errors into the dialect's envelope.

    The view is exempt from the CSRF check, because the API accepts no cookies.
    """

    def decorate(view: ApiView) -> ApiView:
        @wraps(view)
        async def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            try:
                if request.method not in methods:
                    raise MethodNotAllowed(_("This endpoint doesn’t support this method."))
                return await view(request, *args, **kwargs)
            except (RequestError, UpstreamError, CallAborted) as error:
                problem = error_of(error)
            except Error as error:
                problem = error_of(unavailable(error))
            response = error_response(envelope, problem)
            if problem.status == MethodNotAllowed.status:
                response["Allow"] = ", ".join(methods)
            return response

        guarded.csrf_exempt = True  # type: ignore[attr-defined]  # Django's own mark
        return guarded

    return decorate


def error_response(envelope: ErrorEnvelope, problem: ApiError) -> JsonResponse:
    status, body = envelope(problem)
    return json_response(body, status=status, headers=error_headers(problem))


def json_response(body: dict[str, Any], **options: Any) -> JsonResponse:
    response = JsonResponse(body, json_dumps_params={"ensure_ascii": False}, **options)
    response["Cache-Control"] = "no-store"
    return response


async def read_reply(active_call: ActiveCall) -> tuple[str, str]:
    """Return (text, reasoning) of the complete reply. Raises UpstreamError and CallAborted."""
    async with aclosing(active_call.deltas()) as deltas:
        reply = [delta async for delta in deltas]
    return "".join(delta.text for delta in reply), "".join(delta.reasoning for delta in reply)


async def stream_reply(active_call: ActiveCall, frames: StreamFormat) -> "CallStream":
    """Return an event stream once the first delta is there: an error before it still gets its own status.

    Raises UpstreamError and CallAborted.
    """
    deltas = active_call.deltas()
    first = await anext(deltas, None)
    return CallStream(active_call, deltas, _stream(deltas, first, frames))


async def _stream(
    deltas: AsyncGenerator[Delta, None], first: Delta | None, frames: StreamFormat
) -> AsyncGenerator[bytes, None]:
    async with aclosing(deltas):
        try:
            yield frames.first() + (frames.delta(first) if first else b"")
            async for delta in deltas:
                yield frames.delta(delta)
        except (UpstreamError, CallAborted) as error:
            yield frames.error(error_of(error))
            return
        yield frames.last() + sse.DONE


class CallStream(EventStreamResponse):
    """The stream of a call. Closing it ends the call even if it was never iterated."""

    def __init__(
        self,
        active_call: ActiveCall,
        deltas: AsyncGenerator[Delta, None],
        frames: AsyncGenerator[bytes, None],
    ) -> None:
        self._active_call, self._deltas = active_call, deltas
        super().__init__(frames, call_headers(active_call))

    def close(self) -> None:
        super().close()
        if self._active_call.stored is None:
            self._active_call.abandon(self._deltas)
