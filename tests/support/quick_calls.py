"""Calls for tests that make thousands of them: each takes a fraction of the processor time of httpx."""

import http.client
import json
import select
from dataclasses import dataclass
from email.message import Message
from typing import Any

import httpx


@dataclass(frozen=True)
class Response:
    """What a test looks at, under the names of httpx."""

    status_code: int
    headers: Message
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


class QuickCalls:
    """One connection that is kept open, with the headers and the cookies of a client of httpx.

    It asks for no compression, and follows no redirect.
    """

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        url = client.base_url
        self._connection = http.client.HTTPConnection(url.host, url.port, timeout=client.timeout.read)

    @property
    def is_cut(self) -> bool:
        """Return True if the server has closed the connection since the last call."""
        return bool(self._connection.sock and select.select([self._connection.sock], [], [], 0)[0])

    def call(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Response:
        """Make a call, with `body` as JSON unless it is None."""
        sent = {"Accept": "*/*", "X-CSRFToken": self._client.headers["X-CSRFToken"]}
        cookies = [each for each in self._client.cookies.jar if path.startswith(each.path)]
        sent["Cookie"] = "; ".join(f"{each.name}={each.value}" for each in cookies)
        content = None
        if body is not None:
            sent["Content-Type"], content = "application/json", json.dumps(body).encode()
        if self.is_cut:
            self._connection.close()  # the request opens another
        self._connection.request(method, path, content, sent | (headers or {}))
        response = self._connection.getresponse()
        if "Set-Cookie" in response.headers:
            self._keep_cookies(response.headers, path)
        return Response(response.status, response.headers, response.read())

    def close(self) -> None:
        self._connection.close()

    def _keep_cookies(self, headers: Message, path: str) -> None:
        request = self._client.build_request("GET", path)
        self._client.cookies.extract_cookies(httpx.Response(200, headers=headers.items(), request=request))
