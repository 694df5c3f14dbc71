"""A bucket on loopback: puts, gets, heads, deletes and lists objects, without any check of signatures."""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

LIST = '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated>{}'
ENTRY = "<Contents><Key>{}</Key><Size>1</Size></Contents>"
ERROR = "<Error><Code>{}</Code><Message>no</Message></Error>"


class FakeS3:
    """`objects` by key; `down` answers 503, `silent` nothing until it is False again.

    `keeps_waiting` holds the deletions until it is False again; `deletions` are those that it holds.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.objects: dict[str, bytes] = {}
        self.down = False
        self.silent = False
        self.waiting = 0  # requests
        self.keeps_waiting = False
        self.deletions = 0


@contextmanager
def serving() -> Iterator[FakeS3]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    bucket = server.bucket = FakeS3(f"http://127.0.0.1:{server.server_port}")  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield bucket
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_args: object) -> None:
        pass

    @property
    def _bucket(self) -> FakeS3:
        return self.server.bucket  # type: ignore[attr-defined, no-any-return]

    def parse_request(self) -> bool:
        self._bucket.waiting += 1
        while self._bucket.silent:
            time.sleep(0.02)
        self._bucket.waiting -= 1
        return super().parse_request()

    def _key(self) -> str:
        """The key in `/bucket/key`."""
        return unquote(urlsplit(self.path).path).split("/", 2)[2]

    def _respond(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Last-Modified", format_datetime(datetime.now(UTC), usegmt=True))
        self.send_header("ETag", '"x"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Content-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        size, _semicolon, rest = raw.partition(b"\r\n")
        return rest[: int(re.split(rb";", size)[0], 16)]

    def do_PUT(self) -> None:
        body = self._body()
        if self._bucket.down:
            self._respond(503, ERROR.format("ServiceUnavailable").encode())
            return
        self._bucket.objects[self._key()] = body
        self._respond(200)

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        if self._bucket.down:
            self._respond(503, ERROR.format("ServiceUnavailable").encode())
        elif "list-type" in query or "prefix" in query:
            prefix = query["prefix"][0]
            keys = [key for key in self._bucket.objects if key.startswith(prefix)]
            self._respond(
                200, (LIST.format("".join(map(ENTRY.format, keys))) + "</ListBucketResult>").encode()
            )
        elif (content := self._bucket.objects.get(self._key())) is None:
            self._respond(404, ERROR.format("NoSuchKey").encode())
        else:
            self._respond(200, content)

    do_HEAD = do_GET  # noqa: N815 - the name that http.server calls

    def do_DELETE(self) -> None:
        self._bucket.deletions += 1
        while self._bucket.keeps_waiting:
            time.sleep(0.02)
        self._bucket.deletions -= 1
        if self._bucket.down:
            self._respond(503, ERROR.format("ServiceUnavailable").encode())
            return
        self._bucket.objects.pop(self._key(), None)
        self._respond(204)
