"""Imports over HTTP: the upload and its limits, the preview, the start and the stop."""

import json
import re
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.databases import Database
from tests.support.module_server import server_with
from tests.support.server import Person, Server
from tests.support.waiting import until
from tests.transfer import samples
from tests.views.uploads import PAGE, permit, press, state, upload, wait_for

MB = 1_048_576


server = server_with(IMPORT_MAX_MB="3")


def files(server: Server) -> list[Path]:
    return list((server.folder / "imports").iterdir())


def test_a_file_is_checked_shown_and_imported(alice: Person, server: Server) -> None:
    exported = [samples.chatgpt(), samples.claude(), {"mapping": {}}]
    response = upload(alice, json.dumps(exported).encode())
    assert (response.status_code, response.headers["Location"]) == (303, f"{PAGE}#import")
    wait_for(alice, "ready")
    page = alice.get(PAGE).text
    for words in ("2 chats are new.", "1 chat is left out: without messages.", "cat.png"):
        assert words in page
    assert "A picture" not in alice.get("/conversations/").text
    assert (press(alice, "start").status_code, press(alice, "start").status_code) == (303, 303)
    wait_for(alice, "done")
    assert "2 chats were imported." in alice.get(PAGE).text
    listed = alice.get("/conversations/").text
    assert "A picture" in listed
    address = re.findall(r'href="(/c/[^"]+/)"[^>]*>\s*(?:<[^>]+>\s*)*A poem', listed)[0]
    assert "are red" in alice.get(address).text
    assert alice.get(f"{address}export/?format=json").json()["messages"][1]["reasoning"] == "Rhyme?\n\n**x**"
    assert files(server) == []


def test_a_large_upload_arrives_and_one_beyond_the_limit_not(server: Server) -> None:
    bob = server.person("bob")
    space = b" " * (2 * MB)
    assert upload(bob, b"[" + space + json.dumps(samples.claude()).encode() + b"]").status_code == 303
    wait_for(bob, "ready")
    assert press(bob, "stop").status_code == 303
    assert "Cancelled. Nothing was imported." in bob.get(PAGE).text
    refused = upload(bob, b"[" + b" " * (4 * MB))
    assert (refused.status_code, refused.headers["Location"]) == (303, f"{PAGE}?problem=large")
    assert "larger than 3 MiB" in bob.get(f"{PAGE}?problem=large").text
    assert files(server) == []


@pytest.mark.parametrize("how", ["none", "forged", "another person's"])
def test_without_a_permit_nothing_is_taken_in(server: Server, how: str) -> None:
    bob = server.person("bob")
    token = {"none": "", "forged": "1:x:y", "another person's": permit(server.person("erin")).split("=")[1]}[
        how
    ]
    refused = upload(bob, b"[{}]", f"{PAGE}import/?permit={token}", Accept="application/json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
    if how != "another person's":
        large = upload(bob, b"[" + b" " * (2 * MB), f"{PAGE}import/?permit={token}")
        assert large.status_code == 413
    assert files(server) == []


def test_a_permit_is_worthless_when_signed_out_or_disabled(server: Server) -> None:
    address = permit(server.person("erin"))
    for name in ("", "dave"):
        response = upload(server.person(name), b"[{}]", address, Accept="application/json")
        assert response.status_code in (302, 401)
    assert files(server) == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"files": {"file": ("x.json", b"")}}, 400),
        ({"files": {"other": ("x.json", b"[{}]")}}, 400),
        ({"files": [("file", ("x", b"[{}]")), ("file", ("y", b"[{}]"))]}, 400),
        ({"data": {"file": "no file"}}, 415),
        ({"json": {"file": "x"}}, 415),
        ({"content": b"x", "headers": {"Content-Type": "multipart/form-data"}}, 400),
        ({"content": b"x", "headers": {"Content-Type": "multipart/form-data; boundary=a"}}, 400),
    ],
)
def test_a_body_without_a_file_is_refused(server: Server, body: dict[str, Any], status: int) -> None:
    erin = server.person("erin")
    before = files(server)
    erin.client.headers["Accept"] = "application/json"
    response = erin.client.post(permit(erin), **body)
    assert response.status_code == status
    assert response.json()["error"]["message"]
    assert files(server) == before
    assert state(erin) is None


def test_a_person_has_one_import_at_a_time(server: Server, database: Database) -> None:
    carol = server.person("carol")
    address = permit(carol)
    assert upload(carol, b"[{}, " + json.dumps(samples.claude()).encode() + b"]").status_code == 303
    refused = upload(carol, b"[{}]", address, Accept="application/json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "conflict")
    wait_for(carol, "ready")
    job = database.value("SELECT id FROM chat_importjob WHERE state = 'ready'")
    response = server.person("bob").post(f"{PAGE}import/start/", {"job": str(job)})
    assert response.status_code == 404
    assert state(carol)["state"] == "ready"
    assert press(carol, "stop").status_code == 303
    assert carol.post(f"{PAGE}import/start/", {"job": str(job)}).status_code == 409


def begin_upload(server: Server, address: str, length: int) -> socket.socket:
    """An upload whose first byte is sent in one piece with its headers, and no other."""
    begun = socket.create_connection(("127.0.0.1", server.port))
    begun.sendall(f"POST {address} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\nx".encode())
    return begun


def test_a_person_has_one_upload_at_a_time(server: Server) -> None:
    erin = server.person("erin")
    address = permit(erin)
    with begin_upload(server, address, 9999):
        time.sleep(0.5)  # it is known to the server; one that comes before it would take its place
        with begin_upload(server, address, 1) as whole:
            assert f"Location: {PAGE}?problem=busy" in whole.recv(4096).decode()
        assert "Another upload of yours is still arriving." in erin.get(f"{PAGE}?problem=busy").text
    taken_in = f"{PAGE}?problem=empty"  # it is empty, but was taken in
    until(lambda: upload(erin, b"", address).headers["Location"] == taken_in)
    assert files(server) == []


def test_an_upload_of_unknown_length_is_limited(server: Server) -> None:
    erin = server.person("erin")
    pieces = (b" " * MB for _ in range(5))
    refused = erin.client.post(permit(erin), content=pieces)
    assert (refused.status_code, refused.headers["Location"]) == (303, f"{PAGE}?problem=large")
    assert files(server) == []


def test_a_file_without_conversations_is_refused(server: Server) -> None:
    root = server.person("root")
    assert upload(root, b"[]").status_code == 303
    wait_for(root, "refused")
    assert "There are no chats in this file." in root.get(PAGE).text
