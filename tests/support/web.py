"""A small web on loopback: pages, and an instance of SearXNG that finds them."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class Web:
    """`pages`: the HTML of each path. `found`: for a query, the paths that are found; else all pages.

    `asked`: the paths that came, with their queries. `answers`: set it to answer, where it was cleared.
    """

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.found: dict[str, list[str]] = {}
        self.asked: list[str] = []
        self.answers = threading.Event()
        self.answers.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.host = f"127.0.0.1:{self._server.server_port}"

    def answer(self, path: str) -> tuple[int, str, bytes]:
        """Return the status, the type and the body of a request."""
        self.asked.append(path)
        self.answers.wait(60)
        parts = urlsplit(path)
        if parts.path == "/search":
            query = parse_qs(parts.query)["q"][0]
            results = [self._result(each) for each in self.found.get(query, list(self.pages))]
            return 200, "application/json", json.dumps({"query": query, "results": results}).encode()
        page = self.pages.get(parts.path)
        return (404, "text/html", b"") if page is None else (200, "text/html; charset=utf-8", page.encode())

    def _result(self, path: str) -> dict[str, Any]:
        return {"title": f"Page {path}", "url": f"{self.url}{path}", "content": f"About {path}"}

    def run(self) -> None:
        self._server.serve_forever(poll_interval=0.05)

    def stop(self) -> None:
        self.answers.set()
        self._server.shutdown()
        self._server.server_close()


def _handler(web: Web) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, media_type, body = web.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


@contextmanager
def served() -> Iterator[Web]:
    web = Web()
    thread = threading.Thread(target=web.run)
    thread.start()
    try:
        yield web
    finally:
        web.stop()
        thread.join()
