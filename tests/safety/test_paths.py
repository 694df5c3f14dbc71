"""Paths that must not be served: folders, files of settings, the database."""

import http.client

import pytest

from tests.support.server import Server

LYING_AROUND = [
    "/.git/config", "/.git/", "/.env", "/.env.example", "/db.sqlite3", "/data/db.sqlite3", "/secret-key",
    "/manage.py", "/requirements.txt", "/chat/settings.py", "/chatsite/settings.py", "/static/",
    "/static/js/", "/static/../manage.py", "/static/..%2fdb.sqlite3", "/static/%2e%2e/secret-key",
    "/static/..%5c..%5csecret-key", "/static/....//secret-key", "/static//etc/passwd", "/static/%00",
    "/static/js/chat.js%00.css", "/static/js/chat.js.map", "/static/css/chat.css.map",
    "/static/staticfiles.json/..", "/media/", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..;/",
    "//etc/passwd", "/backup.zip", "/server-status", "/debug/", "/__debug__/", "/phpinfo.php",
    "/wp-login.php", "/robots.txt/..", "/.well-known/../.env", "/C:/Windows/win.ini",
]  # fmt: skip


def send_request(server: Server, method: str, path: str) -> tuple[int, bytes]:
    """Request the path as it is: an HTTP library would normalise it."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", f"127.0.0.1:{server.port}")
    connection.putheader("Content-Length", "0")
    connection.endheaders()
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


@pytest.mark.parametrize("path", LYING_AROUND)
def test_nothing_that_lies_around_can_be_fetched(server: Server, path: str) -> None:
    status, body = send_request(server, "GET", path)
    assert status in (400, 404), status
    for inside in (str(server.folder), "SQLite format", "Traceback", "root:", "SECRET_KEY", "[core]"):
        assert inside.encode() not in body


@pytest.mark.parametrize("method", ["TRACE", "TRACK", "CONNECT", "PROPFIND", "DEBUG", "MOVE"])
@pytest.mark.parametrize("path", ["/", "/accounts/login/", "/static/css/chat.css", "/healthz"])
def test_a_strange_method_is_refused_and_echoes_nothing(server: Server, method: str, path: str) -> None:
    status, body = send_request(server, method, path)
    assert status in (400, 403, 405, 501), status
    assert f"127.0.0.1:{server.port}".encode() not in body


@pytest.mark.parametrize("key", ["1", "", "None", "%00", "00000000-0000-0000-0000-00000000000g"])
@pytest.mark.parametrize("path", ["/c/{}/", "/runs/{}/stream/", "/messages/{}/source/"])
def test_an_invalid_id_is_not_found(server: Server, path: str, key: str) -> None:
    assert server.person("alice").get(path.format(key)).status_code in (404, 405)
