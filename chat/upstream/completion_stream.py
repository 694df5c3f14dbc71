"""One completion request and its response stream: deltas, deadlines, and how it ended."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

import httpx

from chat.upstream.providers.ai_gateway import NO_GATEWAY, GatewayLogRef
from chat.upstream.providers.workers_ai import Request
from chat.wire import sse
from chat.wire.delta import Delta
from chat.wire.delta_decoder import DeltaDecoder
from chat.wire.frames import FrameError
from chat.wire.usage import Usage

from . import token_budget
from .catalog import Provider
from .chat_request import ChatRequest
from .errors import ErrorKind, UpstreamError, error_of_frame, permanent, read_error
from .http_transport import CONNECTION_ERRORS, READ_BYTES, Deadline, Timeouts, Transport, is_unreachable

if TYPE_CHECKING:
    from chat.telemetry.tracing.spans import ModelSpan

LAST_BYTES_SECONDS = 0.05  # for the end of the body after [DONE], so that the connection can be reused
UNLIMITED_TOKENS = 2**31  # for a reply whose length no parameter limits
CHARS_PER_TOKEN = 4  # of a reply whose tokens nobody counted

logger = logging.getLogger(__name__)


class NotStreamed(UpstreamError):
    """An empty JSON response to a streaming request; the same request without `stream` may get a reply."""


class CompletionStream:
    """A model's reply to one request.

    `async with client.stream(request) as stream: async for delta in stream: …`

    Raises UpstreamError while it is read and, for a missed deadline, on leaving the block. Leaving the block
    closes the socket, which stops the model. The request is sent once: retries are the router's.

    `streams` False: the server is asked for a JSON response, which becomes one delta. `read_interval`:
    seconds between two reads. `started`: see `Deadline`. `sentences`: messages that replace those of errors.
    `decoder` knows what has come so far: tool calls, passages, sources and the finish reason.
    """

    def __init__(
        self,
        http: Transport,
        build: Callable[[bool], Awaitable[Request]],
        request: ChatRequest,
        *,
        streams: bool,
        timeouts: Timeouts,
        read_interval: float,
        started: float | None,
        sentences: Mapping[ErrorKind, str],
        span: "ModelSpan | None",
    ) -> None:
        self.model = request.model
        self.fallback_reason = ""  # the requested model's kind of error, if this is a fallback model
        self.request_id = ""
        self.gateway_log_ref = NO_GATEWAY
        self.streams = streams
        self.decoder = DeltaDecoder(
            inline_reasoning=request.model.inline_reasoning,
            max_tokens=request.max_tokens if request.model.takes_max_tokens else UNLIMITED_TOKENS,
            stop=request.stop_sequences,
            single_tool_call=request.single_tool_call,
        )
        self._http = http
        self._build = build
        self._sent = request
        self._read_interval = read_interval
        self._span = span
        self._sentences = sentences
        self._deadline = Deadline(timeouts, started, streams=streams)
        self._received_first = self._has_progressed = False
        self._first: Delta | None = None
        self._response: httpx.Response | None = None
        self._chars = 0  # code points of the reply
        self._pause = self._ended = False  # pause before the next read; no next read

    @property
    def usage(self) -> Usage | None:
        """The usage; an estimate if a stop sequence ended the request before the server's own count."""
        usage = self.decoder.usage
        if usage is None and self.decoder.is_stopped:
            prompt = token_budget.estimate_tokens(self._sent.messages, self.model)
            return Usage(prompt, -(-self._chars // CHARS_PER_TOKEN), is_estimated=True)
        return usage

    @property
    def complete(self) -> bool:
        """True if the model declared its reply finished, or a stop sequence was found."""
        return self.decoder.is_complete

    async def __aenter__(self) -> Self:
        await self._deadline.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        try:
            await self._deadline.__aexit__(kind, error, trace)
        except TimeoutError:
            if not self.complete:
                error = UpstreamError(ErrorKind.TIMEOUT)
                raise error from None
            return True
        finally:
            self._end_span(error)
            await self._close()
        return False

    def _end_span(self, error: BaseException | None) -> None:
        """A reply that a person stopped, or whose client left, is no error."""
        if self._span is None:
            return
        usage, reason = self.usage, ""
        if isinstance(error, UpstreamError):
            reason = error.kind.value
        elif isinstance(error, Exception) and not self.complete:
            reason = type(error).__name__
        self._span.end(
            self.decoder.finish_reason,
            usage.prompt_tokens if usage else None,
            usage.completion_tokens if usage else None,
            reason,
        )

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
            delta = await self._next_delta()
        except UpstreamError as error:
            error.message = self._sentences.get(error.kind, error.message)
            raise
        if delta is not None:
            self._received_first = self._has_progressed = True
            self._chars += len(delta.text) + len(delta.reasoning)
        return delta

    @property
    def time_left(self) -> float:
        """The seconds that are left for the reply to begin in."""
        return self._deadline.time_left

    async def _next_delta(self) -> Delta | None:
        """Send the request if that is not done yet, read on, and raise every error as UpstreamError."""
        try:
            if self._response is None:
                self._deadline.begin_read()
                self._response = await self._open()
            return await self._read_stream()
        except FrameError as error:
            assert self._response is not None
            headers, is_own = self._response.headers, self._is_from_cloudflare
            raise error_of_frame(error, headers, from_cloudflare=is_own) from error
        except sse.LineTooLong as error:
            raise permanent(UpstreamError(ErrorKind.UNAVAILABLE, detail="an endless line")) from error
        except CONNECTION_ERRORS as error:
            if self.complete:
                return None
            # Only the exception's name, because its text can contain the URL.
            kind = ErrorKind.INTERRUPTED if self._response is not None else ErrorKind.UNAVAILABLE
            failure = UpstreamError(kind, detail=type(error).__name__)
            failure.unreachable = is_unreachable(error)
            raise failure from None

    async def _open(self) -> httpx.Response:
        request = await self._build(self.streams)
        if self._http.closed:
            raise permanent(UpstreamError(ErrorKind.UNAVAILABLE, detail="the client is closed"))
        # A lone surrogate, which UTF-8 cannot encode, becomes its JSON escape.
        body = sse.dumps(request.body).encode("utf-8", "backslashreplace")
        self._response = response = await self._http.post(request.url, request.headers, body)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        # A proxy may compress the response although the request forbids it.
        self._chunks = (
            response.aiter_bytes() if "content-encoding" in response.headers else aiter(response.stream)
        )
        self.request_id = response.headers.get("cf-ray", "") or response.headers.get("x-request-id", "")
        self.gateway_log_ref = GatewayLogRef.from_headers(request.headers, response.headers)
        if response.is_success:
            return response
        is_own = self._is_from_cloudflare
        raise await read_error(response, self._chunks, self.request_id, from_cloudflare=is_own)

    @property
    def _is_from_cloudflare(self) -> bool:
        return not self.model.local and self.model.host is not Provider.ENDPOINT

    async def _read_stream(self) -> Delta | None:
        """Read until a delta is complete; None at the end. All events of one read become one delta.

        After the first token there is a pause of `read_interval` seconds between two reads, so that one read
        brings several events for the price of one. No pause is made while more bytes are waiting.

        Raises NotStreamed if a stream was requested and an empty JSON response came.
        """
        while not self._ended:
            if self._pause:
                await asyncio.sleep(self._read_interval)
            self._deadline.begin_read(after_progress=self._has_progressed, is_last=self.decoder.is_last)
            chunk = await anext(self._chunks, None)
            self._deadline.end_read()
            self._has_progressed = False
            delta = self.decoder.decode(chunk)
            self._ended = chunk is None or self.decoder.has_ended
            self._pause = (
                chunk is not None and len(chunk) < READ_BYTES and (self._received_first or delta is not None)
            )
            if delta:
                return delta
        self._check_end()
        return None

    def _check_end(self) -> None:
        """Raise the error of a reply that ended in one, or before it began."""
        decoder = self.decoder
        if decoder.failure is not None:
            raise decoder.failure
        if decoder.ignored or decoder.odd_reason:
            error = ", and an error after the end" if decoder.ignored else ""
            reason = decoder.odd_reason or decoder.finish_reason
            logger.info("the server of %s ended its reply with “%s”%s", self.model.id, reason, error)
        if self._received_first or not decoder.is_empty:
            return
        if self.streams and decoder.is_json:
            raise NotStreamed(ErrorKind.UNAVAILABLE, detail="an empty response")
        if decoder.skipped:
            raise UpstreamError(ErrorKind.UNAVAILABLE, detail="a response without a frame")
        if not self.complete and not decoder.is_json:
            raise UpstreamError(ErrorKind.INTERRUPTED, detail="the stream ended before its first token")

    async def _close(self) -> None:
        if self._response is None:
            return
        response, self._response = self._response, None
        try:
            if self.decoder.done and not response.is_closed:
                with suppress(*CONNECTION_ERRORS):
                    async with asyncio.timeout(LAST_BYTES_SECONDS):
                        async for _ in self._chunks:
                            continue
        finally:
            await response.aclose()
