"""Checks of an answer that refuses a request."""

import httpx


def refused(answer: httpx.Response, status: int, code: str) -> None:
    """Check the status and the error code, and that there is a message for a reader."""
    assert answer.status_code == status, answer.text[:300]
    error = answer.json()["error"]
    assert error["code"] == code
    assert len(error["message"]) > 10
    assert "Traceback" not in answer.text
