"""Refusals of requests before their URL is looked at, or before their bodies have arrived."""

from typing import NamedTuple


class Refusal(NamedTuple):
    status: int
    body: bytes
    headers: dict[bytes, bytes]


def refusal(status: int, code: str, number: int, sentence: str, retry_after: int = 0) -> Refusal:
    """Return a JSON error that pages, OpenAI clients and Workers AI clients all understand.

    The format that the client expects is unknown.
    """
    message = f'"message": "{sentence}"'
    body = (
        f'{{"error": {{"code": "{code}", {message}, "type": "invalid_request_error", "param": null}}, '
        f'"result": null, "success": false, "errors": [{{"code": {number}, {message}}}], "messages": []}}'
    )
    headers = {b"Content-Type": b"application/json"}
    if retry_after:
        headers[b"Retry-After"] = b"%d" % retry_after
    return Refusal(status, body.encode(), headers)


TOO_LONG = refusal(413, "too_long", 3006, "The request is larger than 1 MiB. Send less.")
TOO_SLOW = refusal(408, "too_slow", 3046, "The request took too long to arrive. Send it again.")
UNWRITABLE = refusal(
    503,
    "storage_full",
    3040,
    "The server's disk is full or can't be written. Tell your administrator.",
    retry_after=60,
)
