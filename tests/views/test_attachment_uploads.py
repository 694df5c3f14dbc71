"""Uploads of pictures to the real server: their sizes, how many at the same time, and who may send them."""

import socket
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.fake_cloudflare.server import Fake
from tests.files import documents, pictures
from tests.support.databases import Database
from tests.support.module_server import server_with
from tests.support.people import CSRF
from tests.support.server import Person, Server
from tests.support.waiting import until

MB = 1_000_000
HTML = {"Accept": "text/html"}
SEEING = "@cf/google/gemma-4-26b-a4b-it"
BLIND = "@cf/zai-org/glm-4.7-flash"


server = server_with(ATTACHMENT_MAX_BYTES="3000000")


def left(server: Server) -> list[Path]:
    return list((server.folder / "uploads").iterdir())


def count(database: Database) -> int:
    return int(database.value("SELECT COUNT(*) FROM chat_attachment"))


def test_a_picture_larger_than_a_mebibyte_arrives(alice: Person, server: Server) -> None:
    content = pictures.noise(1_300, 1_100)
    assert 1_048_576 < len(content) < 3 * MB
    told = alice.upload("photo.jpg", content).json()
    assert (told["width"], told["height"]) == (1_300, 1_100)
    assert alice.get(told["url"]).headers["Content-Type"] == "image/jpeg"
    assert left(server) == []


def test_a_document_that_only_cloudflare_reads(server: Server, database: Database, fake: Fake) -> None:
    alice, kind = server.person("alice"), "application/vnd.oasis.opendocument.text"
    odt = documents.package({"mimetype": kind, "content.xml": "<text>Grüße</text>"})
    told = alice.upload("notes.odt", odt).json()
    assert (told["kind"], told["pages"], told["media_type"]) == ("document", 1, kind)
    assert "Grüße" in alice.get(told["text_url"]).text
    before = count(database)
    broken = documents.package({"mimetype": kind})
    for content, refusal in (
        (broken, "422 broken_document"),
        (odt + b"fake: error 3040", "503 conversion_unavailable"),
    ):
        response = alice.upload("notes.odt", content)
        assert f"{response.status_code} {response.json()['error']['code']}" == refusal
    assert (count(database), left(server)) == (before, [])


@pytest.mark.parametrize("length", ["told", "not told"])
def test_a_body_beyond_the_limit_is_refused(server: Server, database: Database, length: str) -> None:
    alice, before = server.person("alice"), count(database)
    if length == "told":
        response = alice.upload("photo.jpg", b"x" * (4 * MB))
    else:
        kind = {"Content-Type": "multipart/form-data; boundary=b"}
        response = alice.client.post("/attachments/", content=(b"x" * MB for _ in range(5)), headers=kind)
    assert response.status_code == 413
    assert response.json()["error"]["code"] == "attachment_too_large"
    assert "larger than 3 MB" in response.json()["error"]["message"]
    assert (count(database), left(server)) == (before, [])


def test_a_file_just_beyond_the_limit_is_refused_by_the_view(server: Server, database: Database) -> None:
    before = count(database)
    response = server.person("alice").upload("photo.jpg", b"x" * (3 * MB + 1))
    assert (response.status_code, response.json()["error"]["code"]) == (413, "attachment_too_large")
    assert (count(database), left(server)) == (before, [])


def test_an_endless_body_is_cut_off(server: Server) -> None:
    session, sent = server.person("alice").client.cookies["sessionid"], 0
    with socket.create_connection(("127.0.0.1", server.port)) as wire, suppress(OSError):
        wire.sendall(head(session) + b"Transfer-Encoding: chunked\r\n\r\n")
        while sent < 200 * MB:
            wire.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            sent += 0x10000
    assert 3 * MB < sent < 60 * MB
    assert left(server) == []


def head(session: str) -> bytes:
    return (
        "POST /attachments/ HTTP/1.1\r\nHost: localhost\r\n"
        f"Cookie: sessionid={session}\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    ).encode()


def test_a_signed_out_upload_is_refused_while_it_arrives(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as wire:
        wire.settimeout(20)
        wire.sendall(head("nobody" * 5) + b"Content-Length: 2500000\r\n\r\nx")
        response = wire.recv(4096)  # though most of the body has not been sent
    assert response.startswith(b"HTTP/1.1 401")
    assert b'"signed_out"' in response
    large = server.person("").upload("photo.jpg", b"x" * (2 * MB))
    assert large.status_code == 413  # no session at all: as any body
    assert server.person("dave").upload("photo.jpg", pictures.jpeg()).status_code == 401


def test_a_session_sends_eight_pictures_at_once(server: Server) -> None:
    bob = server.person("bob")
    session = bob.client.cookies["sessionid"]
    begun = []
    try:
        for _ in range(8):
            begun.append(wire := socket.create_connection(("127.0.0.1", server.port)))
            wire.sendall(head(session) + b"Content-Length: 99\r\n\r\nx")
        time.sleep(0.5)  # they are known to the server
        refused = bob.upload("photo.jpg", pictures.jpeg())
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "throttled")
        assert refused.headers["Retry-After"] == "5"
    finally:
        for wire in begun:
            wire.close()
    until(lambda: bob.upload("photo.jpg", pictures.jpeg()).status_code == 201)


def test_ten_at_once_are_stored_or_told_to_wait(server: Server, database: Database) -> None:
    erin, before = server.person("erin"), count(database)
    with ThreadPoolExecutor(10) as pool:
        sent = (pictures.jpeg(size, 100) for size in range(100, 110))
        responses = list(pool.map(lambda content: erin.upload("photo.jpg", content), sent))
    statuses = [response.status_code for response in responses]
    assert set(statuses) <= {201, 429}
    assert statuses.count(201) >= 8
    assert count(database) - before == statuses.count(201)
    assert left(server) == []


def send_form(
    person: Person, *contents: bytes, path: str = "/c/", token: str = CSRF, **fields: str | list[str]
) -> httpx.Response:
    """Send a question as a page without scripts does."""
    sent = {"content": "What?", "model": SEEING, "csrfmiddlewaretoken": token, **fields}
    files = [("file", (f"{number}.jpg", content)) for number, content in enumerate(contents)]
    headers = {**HTML, "X-CSRFToken": ""}
    return person.client.post(path, data=sent, files=files, headers=headers)


def send_without_a_file(person: Person, path: str) -> httpx.Response:
    """Send the form with no file chosen, as a browser does: a part with an empty name of a file."""
    fields = {"content": "And?", "model": BLIND, "csrfmiddlewaretoken": CSRF}
    parts = [
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    parts.append('--b\r\nContent-Disposition: form-data; name="file"; filename=""\r\n')
    parts.append("Content-Type: application/octet-stream\r\n\r\n\r\n--b--\r\n")
    headers = {**HTML, "X-CSRFToken": "", "Content-Type": "multipart/form-data; boundary=b"}
    return person.client.post(path, content="".join(parts), headers=headers)


def questions(database: Database) -> int:
    return int(database.value("SELECT COUNT(*) FROM chat_message WHERE role = 'user'"))


def test_a_page_without_scripts_sends_its_pictures_with_the_form(server: Server, database: Database) -> None:
    carol = server.person("carol")
    response = send_form(carol, pictures.noise(1_300, 1_100), pictures.jpeg(41))
    assert response.status_code == 303
    page = carol.get(response.headers["Location"]).text
    assert page.count('class="pictures"') == 1
    assert page.index('width="1300"') < page.index('width="41"')
    assert send_without_a_file(carol, f"{response.headers['Location']}messages/").status_code in (303, 409)
    assert left(server) == []


def test_a_form_that_is_sent_twice_with_its_files_asks_once(server: Server, database: Database) -> None:
    carol, key = server.person("carol"), str(uuid.uuid4())
    sent = [pictures.jpeg(60), pictures.jpeg(60), pictures.jpeg(61)]
    first = send_form(carol, *sent, client_key=key)
    before = questions(database), count(database)
    again = send_form(carol, *sent, client_key=key)
    assert (again.status_code, again.headers["Location"]) == (303, first.headers["Location"])
    assert (questions(database), count(database), left(server)) == (*before, [])
    other = send_form(carol, pictures.jpeg(62), client_key=key)
    assert other.headers["Location"] != first.headers["Location"]
    stranger = send_form(server.person("bob"), *sent, client_key=key)
    assert stranger.headers["Location"] not in (first.headers["Location"], other.headers["Location"])


def test_a_form_that_is_sent_twice_at_once_asks_once(server: Server, database: Database) -> None:
    carol, key, before = server.person("carol"), str(uuid.uuid4()), questions(database)
    with ThreadPoolExecutor(2) as pool:
        responses = list(pool.map(lambda _n: send_form(carol, pictures.jpeg(63), client_key=key), range(2)))
    assert [response.status_code for response in responses] == [303, 303]
    assert len({response.headers["Location"] for response in responses}) == 1
    assert questions(database) == before + 1


@pytest.mark.parametrize(
    ("contents", "model", "status", "words"),
    [
        ([pictures.jpeg(), b"\0\1\2"], SEEING, 415, "1.jpg: This kind of file can’t be read here"),
        ([pictures.jpeg(), b""], SEEING, 400, "1.jpg: Choose a file that isn’t empty"),
        ([pictures.jpeg()] * 9, SEEING, 400, "At most 8 files can be added at once. Go back"),
        ([b"x" * (3 * MB + 1)], SEEING, 413, "larger than 3 MB"),
    ],
)
def test_a_form_with_a_picture_that_is_refused_sends_nothing(
    server: Server, database: Database, contents: list[bytes], model: str, status: int, words: str
) -> None:
    before = questions(database), count(database)
    response = send_form(server.person("carol"), *contents, model=model)
    assert (response.status_code, words in response.text) == (status, True)
    assert (questions(database), count(database), left(server)) == (*before, [])


def test_a_form_beyond_all_limits_is_refused_in_words(server: Server, database: Database) -> None:
    before = questions(database), count(database)
    response = send_form(server.person("carol"), b"x" * (2 * MB), b"x" * (3 * MB))
    assert (response.status_code, response.headers["Content-Type"]) == (413, "text/plain; charset=utf-8")
    assert response.text.startswith("The files are larger than 3 MB together. Go back")
    assert (questions(database), count(database), left(server)) == (*before, [])


def test_a_form_cannot_add_pictures_to_eight_others(server: Server, database: Database) -> None:
    carol = server.person("carol")
    ids = [carol.upload("photo.jpg", pictures.jpeg(50 + number)).json()["id"] for number in range(8)]
    before = questions(database), count(database)
    response = send_form(carol, pictures.jpeg(70), attachments=ids)
    assert (response.status_code, "8 files" in response.text) == (400, True)
    assert (questions(database), count(database)) == before


def test_a_form_with_pictures_needs_its_token(server: Server, database: Database) -> None:
    before = questions(database)
    assert send_form(server.person("carol"), pictures.jpeg(), token="x" * 32).status_code == 403
    assert questions(database) == before


def test_other_forms_take_no_files(server: Server) -> None:
    carol = server.person("carol")
    assert send_form(carol, pictures.jpeg(), path="/settings/").status_code == 400
