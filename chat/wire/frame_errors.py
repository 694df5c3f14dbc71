"""The errors in frames, in all their forms, and the messages of frames without choices, which look alike."""

from collections.abc import Mapping
from typing import Any

from chat.wire.content import REASONING_NAMES

_Object = dict[str, Any]
ERRORS = ("error", "errors", "error_msg")
OUTCOMES = {"base_resp": "status_code", "x_groq": "error"}  # MiniMax's, Groq's of a reply broken off
_NO_ERRORS = ("", "0", "ok", "success", "succeeded")  # codes of servers that name one in each frame
_REASONING_NAMES = {*REASONING_NAMES}


class FrameError(Exception):
    """The server reported an error in a frame, or in the body of a response with status 200.

    `payload` is the parsed frame or body; None if it was not JSON. It is not part of the exception's text,
    because it may quote the conversation. `reason` is the finish reason of a reply that the server calls
    failed without an error.
    """

    def __init__(self, payload: object, reason: str = "") -> None:
        super().__init__(f"the model server sent {'an error' if payload or reason else 'a broken frame'}")
        self.payload = payload
        self.reason = reason


def native_message(frame: _Object) -> Mapping[str, Any]:
    """Return the message of a frame without choices. Raises FrameError for an error of another form."""
    if "response" in frame and not frame.get("tool_calls") and _REASONING_NAMES.isdisjoint(frame):
        return {}
    if isinstance(message := frame.get("message"), dict):
        return message
    if "response" not in frame and "choices" not in frame:
        code = frame.get("code") or frame.get("status_code")
        is_error = frame.get("status") == "error" or _is_error_code(code)
        if (
            frame.get("object") == "error"
            or (is_error and (message or frame.get("msg")))
            or _is_problem(frame)
        ):
            raise FrameError(frame)
    return {name: frame[name] for name in ("tool_calls", *REASONING_NAMES) if name in frame}


def raise_if_error(frame: _Object) -> None:
    """Raise FrameError if the frame has any of the forms of an error in Cloudflare's services."""
    if any(is_said(frame.get(name)) for name in (*ERRORS, "internalCode")) or frame.get("success") is False:
        raise FrameError(frame)
    for name, field in OUTCOMES.items():
        if isinstance(outcome := frame.get(name), dict) and is_said(outcome.get(field)):
            raise FrameError(outcome)


def is_said(error: object) -> bool:
    """Return True unless the error is empty: some servers send its fields in each frame, without a value."""
    if isinstance(error, dict | list):
        return any(map(is_said, error.values() if isinstance(error, dict) else error))
    return bool(error) and str(error).lower() not in _NO_ERRORS


def _is_problem(frame: _Object) -> bool:
    """Return True for RFC 9457's form, FastAPI's, and Bedrock's, `{"modelStreamErrorException": {…}}`."""
    status = frame.get("status")
    if isinstance(status, int) and status >= 400 and (frame.get("title") or frame.get("detail")):
        return True
    return bool(frame.keys() == {"detail"} and frame["detail"]) or any(
        name.endswith("Exception") and isinstance(value, dict) for name, value in frame.items()
    )


def _is_error_code(code: object) -> bool:
    """Return True for an HTTP status or a word: DashScope writes `DataInspectionFailed`."""
    if isinstance(code, str) and not code.isdecimal():
        return code.lower() not in _NO_ERRORS
    return isinstance(code, int | str) and int(str(code)[:9]) >= 400
