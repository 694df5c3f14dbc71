"""Uploads of files to import, and the state of the import."""

import re
from typing import Any

import httpx

from tests.support.people import CSRF
from tests.support.server import Person
from tests.support.waiting import until

PAGE = "/settings/data/"
HTML = {"Accept": "text/html"}


def permit(person: Person) -> str:
    """The address of the form."""
    found = re.search(r'action="(/settings/data/import/\?permit=[^"]+)"', person.get(PAGE).text)
    assert found
    return found[1]


def upload(person: Person, data: bytes, address: str = "", **headers: str) -> httpx.Response:
    files = {"file": ("export.json", data)}
    client, path = person.client, address or permit(person)
    return client.post(path, files=files, headers={**HTML, "X-CSRFToken": "", **headers})


def state(person: Person) -> dict[str, Any]:
    found: dict[str, Any] = person.get(f"{PAGE}import/progress/").json()["import"]
    return found


def wait_for(person: Person, wanted: str) -> None:
    until(lambda: state(person)["state"] == wanted)


def press(person: Person, what: str) -> httpx.Response:
    """Send the form of the page, as a browser without scripts does."""
    job = re.search(r'name="job" value="([^"]+)"', person.get(PAGE).text)
    assert job
    fields = {"csrfmiddlewaretoken": CSRF, "job": job[1]}
    return person.client.post(f"{PAGE}import/{what}/", data=fields, headers=HTML)
