"""nginx and Caddy in front of the chat, by the examples of deploy/: what people get through them."""

import json
import shutil
import socket
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from chatsite.server.early_errors import TOO_LONG
from tests.conftest import missing
from tests.deploy.fronts import FRONTS, HOST, Front
from tests.fake_cloudflare.server import Fake
from tests.files import pictures
from tests.support.databases import Database, Template
from tests.support.module_server import database, fake  # noqa: F401
from tests.support.people import CSRF, PASSWORD, SESSIONS
from tests.support.server import Person, Server, Servers

MIB = 1_048_576
SEEING = "@cf/google/gemma-4-26b-a4b-it"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Accel-Buffering: no\r\n"
STREAM_HEAD += b"Transfer-Encoding: chunked\r\n\r\n"
FORGED = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http", "Forwarded": "for=203.0.113.9"}


class Site:
    """A proxy and the server behind it."""

    def __init__(self, front: Front, server: Server, go_on: Callable[[str], None]) -> None:
        self.front, self.server, self.go_on = front, server, go_on
        self._people: list[Person] = []

    def person(self, name: str, address: str = "127.0.0.1") -> Person:
        """Somebody in a browser, who reaches the proxy from `address`."""
        made = Person(self.front.url, name)
        made.client.close()
        cookies = {"__Host-csrftoken": CSRF}
        if name in SESSIONS:
            cookies["__Host-sessionid"] = SESSIONS[name]
        made.client = httpx.Client(
            base_url=self.front.url,
            cookies=cookies,
            headers={"X-CSRFToken": CSRF, "Origin": self.front.url},
            timeout=60,
            transport=httpx.HTTPTransport(
                verify=self.front.context(), local_address=address, limits=httpx.Limits(max_connections=10)
            ),
        )
        self._people.append(made)
        return made

    def curl(self, *arguments: str) -> "subprocess.Popen[str]":
        """curl, which speaks HTTP/2, as alice."""
        if shutil.which("curl") is None:
            missing("curl", "install the package curl")
        cookies = f"__Host-sessionid={SESSIONS['alice']}; __Host-csrftoken={CSRF}"
        command = ["curl", "--silent", "--show-error", "--no-buffer", "--http2", "--noproxy", "*"]
        command += ["--cacert", str(self.front.folder / "cert.pem"), "--cookie", cookies]
        command += ["--header", f"X-CSRFToken: {CSRF}", "--header", f"Origin: {self.front.url}", *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def end(self) -> None:
        for person in self._people:
            person.client.close()


@pytest.fixture(scope="module", params=sorted(FRONTS))
def site(
    request: pytest.FixtureRequest,
    template: Template,
    database: Database,  # noqa: F811
    fake: Fake,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Site]:
    kind = request.param
    servers = Servers(template, database, fake, tmp_path_factory.mktemp("server"))
    server = servers.make(TRUSTED_PROXY="1", IMPORT_MAX_MB="2")
    front = FRONTS[kind](tmp_path_factory.mktemp(kind), server.port)
    server.env["SITE_URL"] = front.url
    server.start()
    made = Site(front, server, fake.go_on)
    try:
        front.start()
        yield made
    finally:
        made.end()
        front.end()
        servers.end()


def held(key: str) -> str:
    return f"fake: held key={key} after=3 tokens=6"


def test_frames_arrive_over_http_2_before_the_last_one_is_sent(site: Site) -> None:
    key = uuid.uuid4().hex
    body = json.dumps({"content": held(key), "client_key": str(uuid.uuid4())})
    json_body = ("--header", "Content-Type: application/json", "--data", body)
    curl = site.curl(*json_body, "--write-out", "HTTP/%{http_version}", f"{site.front.url}/c/")
    assert curl.stdout
    seen = ""
    while "word3" not in seen:
        line = curl.stdout.readline()
        assert line, seen
        seen += line
    assert "word4" not in seen
    site.go_on(key)
    rest, _ = curl.communicate(timeout=60)
    assert "word6" in rest
    assert "data: [DONE]" in rest
    assert rest.endswith("HTTP/2")


def test_http_2_is_offered_and_http_1_is_served(site: Site) -> None:
    assert site.front.negotiated("h2", "http/1.1") == "h2"
    assert site.front.negotiated("http/1.1") == "http/1.1"


def test_a_stream_that_was_cut_is_resumed(site: Site) -> None:
    key = uuid.uuid4().hex
    person = site.person("alice")
    with person.ask(held(key)) as stream:
        stream.until(1)
        run, position, seen = stream.run, stream.position, stream.text
    site.go_on(key)
    rest = person.followed(run, position)
    assert rest.finished
    assert (seen + rest.text).split() == [f"word{number}" for number in range(1, 7)]


def test_the_address_is_the_clients_own_whatever_it_writes(site: Site) -> None:
    person = site.person("", address="127.0.0.2")
    form = {"login": f"nobody-{uuid.uuid4().hex}", "password": PASSWORD, "csrfmiddlewaretoken": CSRF}
    response = person.client.post("/accounts/login/", data=form, headers=FORGED)
    assert response.status_code == 200
    rows = site.server.database.rows("SELECT ip_address FROM axes_accessattempt")
    site.server.database.rows("DELETE FROM axes_accessattempt")
    assert rows == [("127.0.0.2",)]


def test_each_request_has_an_id_of_the_proxys_own(site: Site) -> None:
    person = site.person("")
    forged = uuid.uuid4().hex
    responses = [person.get("/accounts/login/", headers={"X-Request-ID": forged}) for _ in range(2)]
    ids = {response.headers["x-request-id"] for response in responses}
    assert len(ids - {forged}) == 2


def test_cookies_are_secure_and_http_leads_to_https(site: Site) -> None:
    page = site.person("").get("/accounts/login/")
    assert page.status_code == 200
    assert "secure" in page.headers["set-cookie"].lower()
    assert page.headers["strict-transport-security"]
    plain = httpx.get(
        f"http://127.0.0.1:{site.front.plain_port}/c/x?y=1", headers={"Host": HOST}, trust_env=False
    )
    assert plain.status_code in (301, 308)
    assert plain.headers["location"].startswith(f"https://{HOST}")
    assert plain.headers["location"].endswith("/c/x?y=1")


@pytest.mark.parametrize("path", ["/c/", f"/messages/{uuid.UUID(int=0)}/edit/"])
@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "chunked"])
def test_a_body_that_is_too_large_gets_the_chats_own_answer(site: Site, chunked: bool, path: str) -> None:
    body = json.dumps({"content": "x" * 3 * MIB}).encode()
    content: Any = (body[at : at + 65_536] for at in range(0, len(body), 65_536)) if chunked else body
    response = site.person("alice").client.post(
        path, content=content, headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 413
    assert response.json() == json.loads(TOO_LONG.body)
    assert response.headers["content-type"] == "application/json"


def upload(site: Site, name: str, size: int) -> httpx.Response:
    """The response to a file of that size, sent by the form of the page."""
    person = site.person(name)
    page = person.get("/settings/data/").text
    query = page.split('action="/settings/data/import/?', 1)[1].split('"', 1)[0]
    files = {"file": ("conversations.json", b" " * size, "application/json")}
    return person.client.post(f"/settings/data/import/?{query}", files=files)


def test_an_import_may_be_larger_than_other_bodies(site: Site) -> None:
    response = upload(site, "bob", 2 * MIB)
    assert response.status_code == 201


def test_an_import_that_is_too_large_leads_back_to_its_page(site: Site) -> None:
    response = upload(site, "alice", 4 * MIB)
    assert response.status_code == 303
    assert response.headers["location"].endswith("/settings/data/?problem=large")


@pytest.mark.parametrize(
    ("path", "fields"),
    [("/c/", {"content": "What?", "model": SEEING}), ("/settings/assistants/", {"name": "A helper"})],
    ids=["a question", "an assistant"],
)
def test_a_form_without_scripts_brings_a_large_file(site: Site, path: str, fields: dict[str, str]) -> None:
    picture = pictures.noise(1_300, 1_100)
    assert len(picture) > MIB
    field = "file" if path == "/c/" else "image_file"
    response = site.person("alice").client.post(
        path,
        data={**fields, "csrfmiddlewaretoken": CSRF},
        files={field: ("noise.jpg", picture)},
        headers={"Accept": "text/html", "X-CSRFToken": ""},
    )
    assert response.status_code == 303


def test_a_program_sends_pictures_larger_than_other_bodies(site: Site) -> None:
    """The chat reads the body and refuses the key; the front refuses nothing."""
    headers = {"Authorization": "Bearer no-such-key"}
    for path in ("/v1/chat/completions", "/client/v4/accounts/acc/ai/run/@cf/any/model"):
        response = site.person("").client.post(path, json={"content": "x" * 3 * MIB}, headers=headers)
        assert response.status_code == 401, response.text


def test_the_proxy_compresses_nothing_that_the_chat_does_not(site: Site) -> None:
    """The length of a compressed page of results would tell what was found."""
    person = site.person("alice")
    found = person.get(
        "/search/?q=word1", headers={"Accept": "text/html", "Accept-Encoding": "gzip, br, zstd"}
    )
    assert found.headers["content-type"].startswith("text/html")
    assert "content-encoding" not in found.headers
    page = person.get("/", headers={"Accept-Encoding": "gzip"})
    assert page.headers["content-encoding"] == "gzip"


def test_one_time_links_and_searches_are_in_no_log(site: Site) -> None:
    person = site.person("alice")
    secrets = [uuid.uuid4().hex for _ in range(5)]
    shared, setup, invite, reset, words = secrets
    paths = [f"/s/{shared}/", f"/accounts/setup/{setup}/", f"/accounts/invite/{invite}/"]
    for path in [*paths, f"/accounts/reset/MQ/{reset}/", f"/search/?q={words}"]:
        assert person.get(path).status_code in (200, 302, 404)
    logged = site.front.logged()
    assert not [secret for secret in secrets if secret in logged]


@pytest.mark.parametrize("kind", sorted(FRONTS))
def test_each_frame_passes_at_once_and_leaving_ends_the_stream(kind: str, tmp_path: Path) -> None:
    """A frame is far smaller than a proxy's buffers; the next one is sent when it has arrived."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        front = FRONTS[kind](tmp_path, listening.getsockname()[1])
        try:
            front.start()
            with front.connected(front.context()) as client:
                client.sendall(f"GET /runs/1/stream/ HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
                served, _ = listening.accept()
                served.settimeout(60)
                served.recv(65_536)
                served.sendall(STREAM_HEAD)
                received = b""
                for number in range(10, 20):
                    served.sendall(b"6\r\n: %d\n\n\r\n" % number)
                    while b": %d\n\n" % number not in received:
                        received += client.recv(65_536)
            with served:
                assert served.recv(1) == b""
        finally:
            front.end()
