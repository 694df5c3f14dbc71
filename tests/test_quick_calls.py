"""Quick calls are those that httpx makes."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from tests.support.quick_calls import QuickCalls
from tests.support.waiting import until


class Echo(BaseHTTPRequestHandler):
    """Answers with what it was asked. Closes the connection after `/close`, and sets cookies at `/cookie`."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        names = ("accept", "content-type", "cookie", "x-csrftoken", "x-own")
        heard = {name: self.headers[name] for name in names if name in self.headers}
        response = json.dumps(
            {"path": self.path, "body": body and json.loads(body), "headers": heard}
        ).encode()
        self.send_response(302)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(response)))
        if self.path == "/cookie":
            self.send_header("Set-Cookie", "a=2; Path=/")
            self.send_header("Set-Cookie", "b=3; Path=/")
            self.send_header("Set-Cookie", "c=4; Path=/other/")
        if self.path == "/forget":
            self.send_header("Set-Cookie", "b=; Path=/; Max-Age=0")
        self.end_headers()
        self.wfile.write(response)
        self.close_connection = self.path == "/close"  # unannounced

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    with httpx.Client(base_url=url, headers={"X-CSRFToken": "token"}, cookies={"own": "1"}) as made:
        yield made
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def quick(client: httpx.Client) -> Iterator[QuickCalls]:
    made = QuickCalls(client)
    yield made
    made.close()


@pytest.mark.parametrize("body", [None, {"a": "ä"}, {}, []], ids=str)
def test_a_quick_call_is_one_of_httpx(client: httpx.Client, quick: QuickCalls, body: object) -> None:
    own = {"X-Own": "mine"}
    response = quick.call("POST", "/a/?b=c", body, own)
    expected = client.request("POST", "/a/?b=c", json=body, headers=own)
    assert json.loads(response.text) == expected.json()
    assert (response.status_code, response.headers["location"]) == (302, "/elsewhere")


def test_cookies_are_those_of_the_client(client: httpx.Client, quick: QuickCalls) -> None:
    for path, expected in (("/", "own=1"), ("/cookie", "own=1; a=2; b=3"), ("/forget", "own=1; a=2")):
        quick.call("POST", path)
        for response in (quick.call("POST", "/"), client.post("/")):
            assert json.loads(response.text)["headers"]["cookie"] == expected


def test_a_connection_that_the_server_closed_is_opened_again(quick: QuickCalls) -> None:
    for path in ("/close", "/close", "/"):
        assert json.loads(quick.call("POST", path).text)["path"] == path
        until(lambda cut=path == "/close": quick.is_cut is cut)
