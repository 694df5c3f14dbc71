"""A foreign server that counts who calls it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Spy:
    """Answers everything with an empty 200; `calls` are the paths asked for."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, name="spy", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        calls = self.calls

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                calls.append(self.path)
                self.send_response(200)
                self.send_header("Access-Control-Allow-Origin", "*")
                self.send_header("Cross-Origin-Resource-Policy", "cross-origin")
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_POST = do_HEAD = do_OPTIONS = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Write no log, because the calls are the log."""

        return Handler


@contextmanager
def listening() -> Iterator[Spy]:
    spy = Spy()
    try:
        yield spy
    finally:
        spy.close()
