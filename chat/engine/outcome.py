"""The outcome of a run or an API call: its status, the reason, its cost and its times."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from chat.models import Run
from chat.models.model_request import OutcomeColumns
from chat.models.run import RunOutcomeColumns
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.providers.ai_gateway import NO_GATEWAY, GatewayLogRef
from chat.wire.usage import Usage

FALLBACK_SENTENCES: dict[str, str] = {
    ErrorKind.BUSY: gettext_noop("Answered by %(model)s, because %(requested)s was busy."),
    ErrorKind.THROTTLED: gettext_noop(
        "Answered by %(model)s, because %(requested)s had reached its limit for this minute."
    ),
    ErrorKind.QUOTA: gettext_noop(
        "Answered by %(model)s, because today’s allowance for %(requested)s is used up."
    ),
    ErrorKind.UNKNOWN_MODEL: gettext_noop(
        "Answered by %(model)s, because %(requested)s is no longer available."
    ),
}
DEFAULT_FALLBACK_SENTENCE = gettext_noop("Answered by %(model)s, because %(requested)s did not answer.")

MAX_RETRY_AFTER_SECONDS = 86_400.0  # one day, the upper limit: a server that says more has made a mistake
INTERNAL_ERROR = gettext_noop("Something went wrong on the server. Try again.")

MAX_COUNT = 2**31 - 1  # tokens, the limit of the database column; the number a server reports is not trusted
MAX_BARELY_BEGUN_CHARS = 40  # a truncated reply with no more text has barely begun
THINKING_CODE = "thinking"
CONTENT_FILTER = "content_filter"  # a finish reason
FILTERED_TEXT = gettext_noop("A content filter stopped this reply. Change your message or try another model.")
EMPTY_CODE = "empty"
EMPTY_TEXT = gettext_noop("The model returned an empty reply. Try again or choose another model.")
THINKING_TEXT = gettext_noop("The model used all its tokens for thinking and had none left for the reply.")


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The outcome of a run, or of an API call.

    - `status`: one of the ended `Run.Status`.
    - `code` and `message`: why the run failed, or what its tokens were spent on.
    - `seconds`: from the question to the end; `thinking_seconds`: the part spent on reasoning.
    - `gateway_log_ref`: the entry in the log of the AI Gateway, if the request went through one.
    - `answered_by` and `fallback_reason`: the fallback model that answered, and the error code of the model
      that was requested; both empty if that one answered.
    - `cited`: the passages that the model was given and that are stored as citations of the message.
    - `retry_at`: a retry before this time is of no use.
    """

    status: str
    finish_reason: str = ""
    code: str = ""
    message: str = ""
    request_id: str = ""
    usage: Usage | None = None
    seconds: float | None = None
    thinking_seconds: float | None = None
    gateway_log_ref: GatewayLogRef = NO_GATEWAY
    answered_by: str = ""
    fallback_reason: str = ""
    retry_at: datetime | None = None
    cited: int = 0

    @classmethod
    def from_run(cls, run: Run) -> "RunOutcome":
        return cls(
            run.status,
            run.finish_reason,
            run.error_code,
            run.error_message,
            run.request_id,
            run.usage,
            run.seconds,
            run.thinking_seconds,
            GatewayLogRef(
                run.gateway, run.gateway_log, run.gateway_cached, run.gateway_step, served_by=run.served_by
            ),
            run.answered_by,
            run.fallback_reason,
            run.retry_at,
            run.cited,
        )

    @classmethod
    def truncated(cls, text: str, reasoning: str, **more: Any) -> "RunOutcome":
        """Return the outcome of a reply whose tokens are used up.

        If it has reasoning and hardly any text, its message says that thinking used them up.
        """
        if reasoning and len(text.strip()) <= MAX_BARELY_BEGUN_CHARS:
            more |= {"code": THINKING_CODE, "message": THINKING_TEXT}
        return cls(Run.Status.TRUNCATED, "length", **more)

    @classmethod
    def at_end(cls, text: str, reason: str, **more: Any) -> "RunOutcome":
        """Return the outcome of a reply that the model ended for `reason`: complete, empty, or filtered."""
        if reason == CONTENT_FILTER:
            return cls(Run.Status.FAILED, reason, code=ErrorKind.BLOCKED.value, message=FILTERED_TEXT, **more)
        if not text.strip():
            more |= {"code": EMPTY_CODE, "message": EMPTY_TEXT}
        return cls(Run.Status.COMPLETE, reason or "stop", **more)

    def to_columns(self) -> OutcomeColumns:
        """Return {column: value}, for a run and for an API call, with values cut to the columns' limits."""
        columns: OutcomeColumns = {
            "status": self.status,
            "finish_reason": self.finish_reason[:40],
            "error_code": self.code[:40],
            "error_message": self.message[:500],
            "request_id": self.request_id[:100],
        }
        if self.usage:
            columns |= {
                "prompt_tokens": min(self.usage.prompt_tokens, MAX_COUNT),
                "completion_tokens": min(self.usage.completion_tokens, MAX_COUNT),
                "cached_tokens": min(self.usage.cached_tokens, MAX_COUNT),
                "neurons": self.usage.neurons,
            }
        if self.gateway_log_ref.gateway:
            columns |= {
                "gateway": self.gateway_log_ref.gateway,
                "gateway_log": self.gateway_log_ref.log_id,
                "gateway_cached": self.gateway_log_ref.cached,
                "gateway_step": self.gateway_log_ref.step,
                "served_by": self.gateway_log_ref.served_by,
            }
        return columns

    def to_run_columns(self) -> RunOutcomeColumns:
        """Return {column: value} for `Run.finish`: `to_columns()` and what only a run's user is told."""
        return {
            **self.to_columns(),
            "answered_by": self.answered_by,
            "fallback_reason": self.fallback_reason,
            "retry_at": self.retry_at,
            "cited": self.cited,
        }

    def payload(self) -> dict[str, Any]:
        """Return the JSON object of the `done` event, in the active language."""
        payload: dict[str, Any] = {
            "response": "",
            "status": self.status,
            "finish_reason": self.finish_reason or None,
            "usage": self.usage.as_dict() if self.usage else None,
            "seconds": _rounded(self.seconds),
        }
        if self.thinking_seconds is not None:
            payload["thinking_seconds"] = _rounded(self.thinking_seconds)
        if self.gateway_log_ref.cached:
            payload["cached"] = True
        if self.gateway_log_ref.step:
            payload["fallback"] = self.gateway_log_ref.step
        if self.gateway_log_ref.served_by:
            payload["served_by"] = self.gateway_log_ref.served_by
        if self.cited:
            payload["citations"] = self.cited
        if self.code:
            payload |= {"code": self.code, "message": gettext(self.message)}
        if self.request_id and self.code:
            payload["request_id"] = self.request_id
        if self.answered_by:
            payload |= {"answered_by": self.answered_by, "because": self.fallback_reason}
        if self.retry_at and (seconds := (self.retry_at - timezone.now()).total_seconds()) > 0:
            payload["retry_after"] = math.ceil(seconds)
        return payload


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)


def outcome_of_error(error: UpstreamError) -> RunOutcome:
    """Return the outcome for `error`: interrupted after a cut or a passed deadline of ours, else failed."""
    missed_deadline = error.kind is ErrorKind.TIMEOUT and error.status is None
    interrupted = missed_deadline or error.kind is ErrorKind.INTERRUPTED
    retry_at = None
    if error.retry_after:
        retry_at = timezone.now() + timedelta(seconds=min(error.retry_after, MAX_RETRY_AFTER_SECONDS))
    return RunOutcome(
        Run.Status.INTERRUPTED if interrupted else Run.Status.FAILED,
        code=error.kind.value,
        message=error.message,
        request_id=error.request_id,
        retry_at=retry_at,
    )


def fallback_sentence(reason: str) -> str:
    """Return the untranslated sentence for an error code, with the placeholders `model` and `requested`."""
    return FALLBACK_SENTENCES.get(reason, DEFAULT_FALLBACK_SENTENCE)


def fallback_message(reason: str, model: str, requested: str) -> str:
    """Return the sentence with the names of both models filled in, in the active language."""
    return gettext(fallback_sentence(reason)) % {"model": model, "requested": requested}
