"""How a run ended."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from chat.models import Run
from chat.wire.frames import Usage


@dataclass(frozen=True, slots=True)
class Ending:
    """`code` and `message` say why a run failed; `status` is one of the ended `Run.Status`.

    `seconds` from the question to the end, `thinking_seconds` of them spent on the reasoning.
    """

    status: str
    finish_reason: str = ""
    code: str = ""
    message: str = ""
    request_id: str = ""
    usage: Usage | None = None
    seconds: float | None = None
    thinking_seconds: float | None = None

    @classmethod
    def of(cls, run: Run) -> "Ending":
        """The ending that the database holds."""
        usage = None
        if run.completion_tokens is not None:
            usage = Usage(
                run.prompt_tokens or 0, run.completion_tokens, run.cached_tokens or 0, run.neurons or 0.0
            )
        return cls(
            run.status,
            run.finish_reason,
            run.error_code,
            run.error_message,
            run.request_id,
            usage,
            run.seconds,
            run.thinking_seconds,
        )

    def columns(self) -> dict[str, Any]:
        """What `Run.conclude` stores beside the text."""
        columns: dict[str, Any] = {
            "status": self.status,
            "finish_reason": self.finish_reason[:40],
            "error_code": self.code[:40],
            "error_message": self.message[:500],
            "request_id": self.request_id[:100],
        }
        if self.usage:
            columns |= {
                "prompt_tokens": self.usage.prompt_tokens,
                "completion_tokens": self.usage.completion_tokens,
                "cached_tokens": self.usage.cached_tokens,
                "neurons": self.usage.neurons,
            }
        return columns

    def payload(self) -> dict[str, Any]:
        """The JSON of the `done` event, in the language of who asks."""
        payload: dict[str, Any] = {
            "response": "",
            "status": self.status,
            "finish_reason": self.finish_reason or None,
            "usage": self.usage.as_dict() if self.usage else None,
            "seconds": _rounded(self.seconds),
        }
        if self.thinking_seconds is not None:
            payload["thinking_seconds"] = _rounded(self.thinking_seconds)
        if self.code:
            payload |= {"code": self.code, "message": gettext(self.message)}
        return payload


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)
