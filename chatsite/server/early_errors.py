"""Errors of requests that are refused before their URL is looked at."""


def error_body(code: str, number: int, sentence: str) -> bytes:
    """Return a JSON error that pages, OpenAI clients and Workers AI clients all understand.

    The request is refused before its URL is looked at, so the format that its client expects is unknown.
    """
    message = f'"message": "{sentence}"'
    return (
        f'{{"error": {{"code": "{code}", {message}, "type": "invalid_request_error", "param": null}}, '
        f'"result": null, "success": false, "errors": [{{"code": {number}, {message}}}], "messages": []}}'
    ).encode()
