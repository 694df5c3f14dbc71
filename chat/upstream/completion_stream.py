"""One completion request and its response stream: deltas, deadlines, and how it ended."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import aiohttp
import httpx

from chat.upstream.providers.workers_ai import Request
from chat.wire import sse
from chat.wire.frames import Delta, FrameError, FrameReader
from chat.wire.usage import Usage

from .catalogue import LlmModel
from .errors import ErrorKind, UpstreamError, from_payload, from_response
from .gateway_log import NO_GATEWAY, GatewayLogRef
from .http_transport import READ_BYTES, Transport
from .timeouts import Timeouts

MAX_ERROR_BYTES = 65_536  # limit for the body of an error response
ERROR_READ_SECONDS = 5.0  # limit for reading that body
MAX_JSON_BYTES = 4_000_000  # limit for the body of a JSON response
LAST_FRAMES_SECONDS = 5.0  # for the frames after the finish reason: the usage and [DONE]
DEADLINE_SLACK = 0.02  # share of the timeout by which it may fire early, so that it is rescheduled less often
LAST_BYTES_SECONDS = 0.05  # for the end of the body after [DONE], so that the connection can be reused
NONE: Mapping[ErrorKind, str] = {}
CONNECTION_ERRORS = (httpx.HTTPError, aiohttp.ClientError, OSError)


class NotStreamed(UpstreamError):
    """An empty JSON response to a streaming request; the same request without `stream` may get a reply."""


class CompletionStream:
    """A model's reply to one request: `async with client.stream(ask) as stream: async for delta in stream: …`

    Raises UpstreamError while it is read and, for a missed deadline, on leaving the block. Leaving the block
    closes the socket, which stops the model. The request is sent once: retries are the router's.

    `streams` False: the server is asked for a JSON response, which becomes one delta. `bite`: seconds between
    two reads. `started`: the event loop's time from which the deadlines count, for a retry the time of the
    first request.
    """

    def __init__(
        self,
        http: Transport,
        request: Callable[[bool], Awaitable[Request]],
        *,
        model: LlmModel,
        streams: bool = True,
        max_tokens: int,
        deadlines: Timeouts,
        bite: float,
        started: float | None = None,
        sentences: Mapping[ErrorKind, str] = NONE,
    ) -> None:
        self.model = model
        self.fallback_reason = ""  # the requested model's kind of error, if this is a fallback model
        self.request_id = ""
        self.gateway_log_ref = NO_GATEWAY
        self.streams = streams
        self._http = http
        self._request = request
        self._max_tokens = max_tokens
        self._deadlines = deadlines
        self._read_interval = bite
        self._sentences = sentences  # messages that replace those of the errors
        self._loop = asyncio.get_running_loop()
        self._began = self._last = self._loop.time() if started is None else started
        self._put_off_at = 0.0  # event loop time from which the next delta reschedules the timeout
        self._received_first = False
        self._first: Delta | None = None
        self._response: httpx.Response | None = None
        self._decoder = sse.Decoder()
        self._reader = FrameReader(inline_reasoning=model.inline_reasoning)
        self._failure: Exception | None = None
        self._over = False
        self._pause = False

    @property
    def usage(self) -> Usage | None:
        return self._reader.usage

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The tool calls received so far, in the shape of OpenAI's chat API."""
        return self._reader.tool_calls

    @property
    def complete(self) -> bool:
        """True if the model declared its reply finished."""
        return self._reader.done or bool(self._reader.finish_reason)

    @property
    def finish_reason(self) -> str:
        """The finish reason; "" while unknown.

        Native frames have none, so a reply that used all its `max_tokens` counts as cut off ("length").
        """
        usage = self._reader.usage
        if not self._reader.finish_reason and usage and usage.completion_tokens >= self._max_tokens:
            return "length"
        return self._reader.finish_reason

    async def __aenter__(self) -> Self:
        # One timeout for the whole reply, rescheduled as deltas arrive: a new timeout for each delta would
        # cost a tenth of what processing a token costs.
        self._timeout = asyncio.timeout_at(self._deadline())
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            if not self.complete:
                raise UpstreamError(ErrorKind.TIMEOUT) from None
            return True
        finally:
            await self._close()
        return False

    def __aiter__(self) -> Self:
        return self

    async def begin(self) -> None:
        """Send the request and read up to the first delta, which the iteration then returns first.

        Raises UpstreamError.
        """
        self._first = await self._receive()

    async def __anext__(self) -> Delta:
        delta, self._first = self._first or await self._receive(), None
        if delta is None:
            raise StopAsyncIteration
        return delta

    async def _receive(self) -> Delta | None:
        """Return the next delta; None at the end."""
        try:
            delta = await self._read_response()
        except UpstreamError as error:
            error.message = self._sentences.get(error.kind, error.message)
            raise
        if delta is not None:
            self._received_first = True
            self._last = self._loop.time()
            if self._last >= self._put_off_at or self._reader.finish_reason:
                self._extend_deadline()
        return delta

    def _extend_deadline(self) -> None:
        """Reschedule the timeout, and note when to do so next.

        Rescheduling for each token would cost a twentieth of what processing it costs.
        """
        deadline = self._deadline()
        self._timeout.reschedule(deadline)
        self._put_off_at = self._last + DEADLINE_SLACK * (deadline - self._last)

    def _deadline(self) -> float:
        patience = self._deadlines.between_tokens if self._received_first else self._first_deadline()
        if self._reader.finish_reason:
            patience = min(patience, LAST_FRAMES_SECONDS)
        return min(self._last + patience, self._began + self._deadlines.whole)

    def _first_deadline(self) -> float:
        return self._deadlines.first_token if self.streams else self._deadlines.unstreamed

    @property
    def time_left(self) -> float:
        """The seconds until the deadline."""
        return self._deadline() - self._loop.time()

    async def _read_response(self) -> Delta | None:
        try:
            if self._response is None:
                self._response = await self._open()
                kind = self._response.headers.get("content-type", "")
                if "json" in kind:
                    return await self._read_json()
                if "html" in kind:
                    raise UpstreamError(ErrorKind.UNAVAILABLE, detail="a page in place of a stream")
            return await self._read()
        except FrameError as error:
            raise from_payload(error.payload) from error
        except sse.LineTooLong as error:
            raise _final(UpstreamError(ErrorKind.UNAVAILABLE, detail="an endless line")) from error
        except CONNECTION_ERRORS as error:
            if self.complete:
                return None
            # Only the exception's name, because its text can contain the URL.
            kind = ErrorKind.INTERRUPTED if self._response is not None else ErrorKind.UNAVAILABLE
            raise UpstreamError(kind, detail=type(error).__name__) from None

    async def _open(self) -> httpx.Response:
        request = await self._request(self.streams)
        if self._http.closed:
            raise _final(UpstreamError(ErrorKind.UNAVAILABLE, detail="the client is closed"))
        # A lone surrogate, which UTF-8 cannot encode, becomes its JSON escape.
        body = sse.dumps(request.body).encode("utf-8", "backslashreplace")
        self._response = response = await self._http.post(request.url, request.headers, body)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        # A proxy may compress the response although the request forbids it.
        self._chunks = (
            response.aiter_bytes() if "content-encoding" in response.headers else aiter(response.stream)
        )
        self.request_id = response.headers.get("cf-ray", "") or response.headers.get("x-request-id", "")
        self.gateway_log_ref = GatewayLogRef.of(request.headers, response.headers)
        if response.is_success:
            return response
        raise await self._refusal(response)

    async def _refusal(self, response: httpx.Response) -> UpstreamError:
        body = await _body(self._chunks, MAX_ERROR_BYTES, ERROR_READ_SECONDS)
        error = from_response(response.status_code, response.headers, body)
        error.request_id = error.request_id or self.request_id
        if response.is_redirect:
            # Redirects are not followed, because the token would be sent to their target.
            error = _final(UpstreamError(ErrorKind.UNAVAILABLE, status=response.status_code))
        return error

    async def _read_json(self) -> Delta | None:
        """Read a JSON response, which some models and filters send even if a stream was requested.

        Raises NotStreamed if a stream was requested and the response is empty.
        """
        try:
            body = json.loads(await _body(self._chunks, MAX_JSON_BYTES))
        except (ValueError, RecursionError):
            raise UpstreamError(ErrorKind.UNAVAILABLE, detail="an answer that is no JSON") from None
        delta = self._reader.read_json(body)
        if self.streams and not delta and not self._reader.tool_calls:
            raise NotStreamed(ErrorKind.UNAVAILABLE, detail="an empty answer")
        self._over = self._reader.done = True
        return delta or None

    async def _read(self) -> Delta | None:
        """Read until a delta is complete; None at the end. All events of one read become one delta.

        After the first token there is a pause of `bite` seconds between two reads, so that one read brings
        several events for the price of one. No pause is made while more bytes are waiting.
        """
        while not self._over:
            if self._pause:
                await asyncio.sleep(self._read_interval)
            chunk = await anext(self._chunks, None)
            delta = self._take(chunk)
            self._over = chunk is None or self._reader.done or self._failure is not None
            self._pause = (
                chunk is not None and len(chunk) < READ_BYTES and (self._received_first or delta is not None)
            )
            if delta:
                return delta
            if self._reader.finish_reason:
                self._shorten_deadline()
        if self._failure is not None:
            raise self._failure
        if not self._received_first and not self.complete:
            raise UpstreamError(ErrorKind.INTERRUPTED, detail="the stream ended before its first token")
        return None

    def _take(self, chunk: bytes | None) -> Delta | None:
        """Decode `chunk`, None for the end of the stream, up to an error in it.

        The error is kept in `_failure` and raised after the text before it has been returned.
        """
        said = Delta()
        try:
            for event in self._decoder.close() if chunk is None else self._decoder.feed(chunk):
                _add(said, self._reader.read(event))
            if chunk is None or self._reader.done:
                _add(said, self._reader.flush())
        except (FrameError, sse.LineTooLong) as error:
            self._failure = error
        return said if said.text or said.reasoning else None

    def _shorten_deadline(self) -> None:
        """Limit the wait for the last frames after the finish reason, which is shorter than for a token."""
        last = self._loop.time() + LAST_FRAMES_SECONDS
        if (deadline := self._timeout.when()) is not None and last < deadline:
            self._timeout.reschedule(last)

    async def _close(self) -> None:
        if self._response is None:
            return
        response, self._response = self._response, None
        try:
            if self._reader.done and not response.is_closed:
                with suppress(*CONNECTION_ERRORS):
                    async with asyncio.timeout(LAST_BYTES_SECONDS):
                        async for _ in self._chunks:
                            continue
        finally:
            await response.aclose()


def _add(said: Delta, delta: Delta | None) -> None:
    if delta is not None:
        said.text += delta.text
        said.reasoning += delta.reasoning


def _final(error: UpstreamError) -> UpstreamError:
    error.permanent = True
    return error


async def _body(chunks: AsyncIterator[bytes], most: int, seconds: float | None = None) -> bytes:
    """Return at most `most` bytes of the body, as many as arrive within `seconds`.

    A connection error ends the body too, because the beginning of an error response is enough.
    """
    body = bytearray()
    with suppress(*CONNECTION_ERRORS):  # the timeout's TimeoutError is an OSError
        async with asyncio.timeout(seconds):
            async for chunk in chunks:
                body += chunk
                if len(body) > most:
                    break
    return bytes(body[:most])
