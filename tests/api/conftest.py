"""One server for each file of tests, and programs that have a key of somebody's."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.api.client import Program
from tests.support.module_server import database, fake, server
from tests.support.people import PASSWORD
from tests.support.same_models import same_models
from tests.support.server import Server

__all__ = ["database", "fake", "same_models", "server"]


@pytest.fixture(scope="module")
def program(server: Server) -> Iterator[Callable[..., Program]]:
    """A program with a new key of `person`."""
    made: list[Program] = []

    def make(person: str = "alice", **wanted: Any) -> Program:
        fields = {"name": "a program", "run": True, "list": True, "password": PASSWORD, **wanted}
        response = server.person(person).post("/settings/keys/", fields)
        assert response.status_code == 201, response.text
        made.append(Program(server.url, response.json()["key"], response.json()["id"]))
        return made[-1]

    yield make
    for each in made:
        each.client.close()


@pytest.fixture(scope="module")
def alices(program: Callable[..., Program]) -> Program:
    return program()
