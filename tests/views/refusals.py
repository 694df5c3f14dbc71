"""Checks of a response that refuses a request."""

import httpx


def refused(response: httpx.Response, status: int, code: str) -> None:
    """Check the status and the error code, and that there is a message for a reader."""
    assert response.status_code == status, response.text[:300]
    error = response.json()["error"]
    assert error["code"] == code
    assert len(error["message"]) > 10
    assert "Traceback" not in response.text
