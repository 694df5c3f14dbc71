"""Requests for generated titles: one task for each conversation whose first reply has ended."""

import asyncio
import logging
import uuid
from dataclasses import replace

from chat.catalog.catalog import CurrentCatalog
from chat.conversations.titles import (
    MAX_TITLE_REPLY_CHARS,
    claim_title,
    clean_title,
    may_read,
    save_title,
    title_model,
    title_request,
)
from chat.db.background import BackgroundTasks, log_failure
from chat.db.executor import run_in_db
from chat.engine.outcome import RunOutcome, outcome_of_error
from chat.models import Conversation, Run, TitleRequest
from chat.upstream.catalog import LlmModel
from chat.upstream.chat_request import ChatRequest
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.routing.routed_request import RoutedRequest
from chat.upstream.routing.router import Router

DEADLINE_SECONDS = 30.0
MAX_REQUESTS = 8  # for titles, at the same time
MAX_TASKS = 100  # running and waiting for a request; further conversations keep their first line
UNUSABLE_TITLE_CODE = "unusable"  # the error code of a response that is not a title
TITLED_AFTER = (Run.Status.COMPLETE, Run.Status.TRUNCATED)

logger = logging.getLogger(__name__)


class Titles:
    """Request titles in the background. To be used on the event loop only."""

    def __init__(self, router: Router, catalog: CurrentCatalog) -> None:
        self._router = router
        self._catalog = catalog
        self._first_replies: dict[uuid.UUID, tuple[Run, LlmModel]] = {}  # live, with the requested model
        self._slots = asyncio.Semaphore(MAX_REQUESTS)
        self._tasks = BackgroundTasks()
        self._stopped = False

    def expect(self, run: Run, request: ChatRequest) -> None:
        """Remember a run that is launched, if it writes the first reply of a conversation without a title."""
        untitled = run.conversation.title_state == Conversation.TitleState.FIRST_LINE
        if untitled and _is_first_reply(run, request):
            self._first_replies[run.pk] = run, request.model

    def request_after(self, run: uuid.UUID, outcome: RunOutcome) -> None:
        """Request a title, if the run, stored now, wrote a first reply with text in it."""
        found = self._first_replies.pop(run, None)
        if found is None or self._stopped or outcome.status not in TITLED_AFTER or outcome.code:
            return
        reply, answering = found
        model = title_model(self._catalog.get())
        if model and may_read(model, answering) and len(self._tasks) < MAX_TASKS:
            self._tasks.start(log_failure(self._request_title(reply, model), "a title"), f"title {run}")

    async def stop(self) -> None:
        """Drop the requests that are left; their conversations keep the first line."""
        self._stopped = True
        await self._tasks.cancel()

    async def _request_title(self, run: Run, model: LlmModel) -> None:
        async with self._slots:
            claim = await run_in_db(claim_title, run.conversation_id, run.message_id, model.id)
            if claim is None:
                return
            routed = self._router.stream(title_request(model, claim), background=True)
            title, outcome = await _attempt(routed)
            await run_in_db(save_title, claim, title, outcome.to_columns())


def _is_first_reply(run: Run, request: ChatRequest) -> bool:
    """Return True if the prompt has no other reply than the one that this run continues."""
    replies = sum(message["role"] == "assistant" for message in request.messages)
    return replies == (1 if run.text_offset else 0)


async def _attempt(request: RoutedRequest) -> tuple[str, RunOutcome]:
    """Return the title, "" if the model gave none, and the outcome of the request with its usage."""
    title = ""
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            title, outcome = _parse_title(*await _read(request))
    except TimeoutError:
        outcome = RunOutcome(TitleRequest.Status.INTERRUPTED, code=ErrorKind.TIMEOUT.value)
    except UpstreamError as error:
        outcome = outcome_of_error(error)
    if stream := request.attempt:
        outcome = replace(
            outcome,
            usage=stream.usage,
            request_id=outcome.request_id or stream.request_id,
            gateway_log_ref=stream.gateway_log_ref,
        )
    return title, outcome


async def _read(request: RoutedRequest) -> tuple[str, str]:
    """Return the model's response without its reasoning, and the finish reason. Raises UpstreamError."""
    text = ""
    async with request as stream:
        async for delta in stream:
            text += delta.text
            if len(text) > MAX_TITLE_REPLY_CHARS:
                return "", "length"
        if not stream.complete:
            raise UpstreamError(ErrorKind.INTERRUPTED)
    return text, stream.decoder.finish_reason


def _parse_title(text: str, finish_reason: str) -> tuple[str, RunOutcome]:
    """Return the title in a model's response, and the outcome. A response that was cut off gives no title."""
    if finish_reason == "length":
        return "", RunOutcome(TitleRequest.Status.TRUNCATED, "length", code=UNUSABLE_TITLE_CODE)
    title = clean_title(text)
    return title, RunOutcome(
        TitleRequest.Status.COMPLETE, finish_reason or "stop", code="" if title else UNUSABLE_TITLE_CODE
    )
