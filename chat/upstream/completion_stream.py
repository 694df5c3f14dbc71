"""One request for a reply and the reply as it is read: deltas, deadlines, and how it ended."""

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

MAX_ERROR_BYTES = 65_536  # bytes of an error's body that are read
ERROR_READ_SECONDS = 5.0  # seconds in which they have to come
MAX_JSON_BYTES = 4_000_000  # bytes of a whole JSON answer
LAST_FRAMES_SECONDS = 5.0  # seconds for what follows the finish reason: the usage and [DONE]
EARLY_SECONDS = 0.02  # of the time between two tokens: so much sooner than it says it may be over
LAST_BYTES_SECONDS = 0.05  # seconds for the body's end behind [DONE], so that the connection can be kept
NONE: Mapping[ErrorKind, str] = {}
CONNECTION_ERRORS = (httpx.HTTPError, aiohttp.ClientError, OSError)


class NotStreamed(UpstreamError):
    """An empty answer to a request for a stream: the same request without `stream` may get the real one."""


class CompletionStream:
    """A model's reply to one request: `async with client.stream(ask) as stream: async for delta in stream: …`

    Raises UpstreamError; for a deadline that has passed on leaving the block. Leaving it closes the socket,
    which is what stops the model. A request is sent once: retries are the router's.

    `streams` False: the server is asked for a whole answer, which comes as one delta. `started`: the time of
    the loop's clock from which the deadlines count, which is earlier than now for a retry.
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
        self.fallback_reason = ""  # the kind of error for which this is not the model that was asked
        self.request_id = ""
        self.gateway_log_ref = NO_GATEWAY  # through an AI Gateway
        self.streams = streams
        self._http = http
        self._request = request
        self._max_tokens = max_tokens
        self._deadlines = deadlines
        self._read_interval = bite
        self._sentences = sentences  # for errors, in place of their own
        self._loop = asyncio.get_running_loop()
        self._began = self._last = self._loop.time() if started is None else started
        self._put_off_at = 0.0  # when the deadline that is set now is old
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
        """What the model asks to be called, so far, in the shape of OpenAI's chat API."""
        return self._reader.tool_calls

    @property
    def complete(self) -> bool:
        """The model said that it had finished."""
        return self._reader.done or bool(self._reader.finish_reason)

    @property
    def finish_reason(self) -> str:
        """Native frames name none: a reply that used its budget up was cut by it."""
        usage = self._reader.usage
        if not self._reader.finish_reason and usage and usage.completion_tokens >= self._max_tokens:
            return "length"
        return self._reader.finish_reason

    async def __aenter__(self) -> Self:
        # One for the whole reply, put off with each delta: one for each cost a tenth of what a token costs.
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
        """Read the first delta, with which the iteration then begins. Raises UpstreamError."""
        self._first = await self._receive()

    async def __anext__(self) -> Delta:
        delta, self._first = self._first or await self._receive(), None
        if delta is None:
            raise StopAsyncIteration
        return delta

    async def _receive(self) -> Delta | None:
        """The next delta, None at the end."""
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
        """A timer set anew for each token costs a twentieth of it; a little early is early enough."""
        deadline = self._deadline()
        self._timeout.reschedule(deadline)
        self._put_off_at = self._last + EARLY_SECONDS * (deadline - self._last)

    def _deadline(self) -> float:
        patience = self._deadlines.between_tokens if self._received_first else self._first_deadline()
        if self._reader.finish_reason:
            patience = min(patience, LAST_FRAMES_SECONDS)
        return min(self._last + patience, self._began + self._deadlines.whole)

    def _first_deadline(self) -> float:
        return self._deadlines.first_token if self.streams else self._deadlines.unstreamed

    @property
    def time_left(self) -> float:
        """Seconds until the deadline."""
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
            # Its text can hold the address; its name says enough.
            kind = ErrorKind.INTERRUPTED if self._response is not None else ErrorKind.UNAVAILABLE
            raise UpstreamError(kind, detail=type(error).__name__) from None

    async def _open(self) -> httpx.Response:
        request = await self._request(self.streams)
        if self._http.closed:
            raise _final(UpstreamError(ErrorKind.UNAVAILABLE, detail="the client is closed"))
        # Half a surrogate pair, which UTF-8 cannot carry, becomes the escape that JSON has for it.
        body = sse.dumps(request.body).encode("utf-8", "backslashreplace")
        self._response = response = await self._http.post(request.url, request.headers, body)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        # A relay may compress although we asked it not to.
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
            # Never followed: the token would go with it.
            error = _final(UpstreamError(ErrorKind.UNAVAILABLE, status=response.status_code))
        return error

    async def _read_json(self) -> Delta | None:
        """A whole answer to a request for a stream, as some models and filters give it.

        Raises NotStreamed for an empty one.
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
        """Events until something was said; all that one read brought becomes one delta.

        After the first token reads come every `bite` seconds: each then brings several events for the
        price of one. No pause is made while more is waiting.
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
        """What these bytes said, up to an error that may stand among them, which comes at the next read."""
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
        """All is said; whoever waits for the end of the stream need not wait as long as for a token."""
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
    """As much of the body as comes, within these limits; of an error the beginning says enough."""
    body = bytearray()
    with suppress(*CONNECTION_ERRORS):  # the timeout's TimeoutError is an OSError
        async with asyncio.timeout(seconds):
            async for chunk in chunks:
                body += chunk
                if len(body) > most:
                    break
    return bytes(body[:most])
