"""The same key is the same run for each call that starts one; with anything else it is a conflict."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import pytest

from tests.support.server import Person, Server
from tests.views.conversations import OTHER_MODEL
from tests.views.trees import cut_short, started

pytestmark = pytest.mark.database
CALLS = {
    "edit": ("user_message", {"content": "else"}),
    "regenerate": ("message", {}),
    "continue": ("message", {}),
}


@pytest.fixture
def hers(alice: Person) -> dict[str, str]:
    """A reply of alice's that every call can be made on."""
    return cut_short(alice, "truncated").meta


def path(hers: dict[str, str], call: str) -> str:
    return f"/messages/{hers[CALLS[call][0]]}/{call}/"


@pytest.mark.parametrize("call", CALLS)
def test_a_key_replays_its_run_also_when_that_has_finished(alice: Person, hers, fake, call: str) -> None:
    sent, before = str(uuid.uuid4()), len(fake.calls)
    first = started(alice, path(hers, call), client_key=sent, **CALLS[call][1])
    second = started(alice, path(hers, call), client_key=sent, **CALLS[call][1])
    assert (second.status, second.run, second.text) == (200, first.run, first.text)
    assert len(fake.calls) == before + 1


@pytest.mark.parametrize("call", ["edit", "regenerate"])
def test_twenty_calls_with_one_key_are_one_run(alice: Person, server: Server, hers, fake, call: str) -> None:
    sent, before = str(uuid.uuid4()), len(fake.calls)

    def send(_: int) -> tuple[str, str]:
        stream = started(server.person("alice"), path(hers, call), client_key=sent, **CALLS[call][1])
        return stream.run, stream.text

    with ThreadPoolExecutor(20) as pool:
        assert len(set(pool.map(send, range(20)))) == 1
    assert len(fake.calls) == before + 1


@pytest.mark.parametrize(("call", "other"), list(permutations(CALLS, 2)))
def test_a_key_of_another_kind_of_call_is_a_conflict(
    alice: Person, hers, fake, call: str, other: str
) -> None:
    sent = str(uuid.uuid4())
    started(alice, path(hers, call), client_key=sent, **CALLS[call][1])
    before = len(fake.calls)
    response = alice.post(path(hers, other), {"client_key": sent, **CALLS[other][1]})
    assert (response.status_code, response.json()["error"]["code"]) == (409, "conflict")
    further = alice.post(f"/c/{hers['conversation']}/messages/", {"content": "else", "client_key": sent})
    assert (further.status_code, further.json()["error"]["code"]) == (409, "conflict")
    assert len(fake.calls) == before


@pytest.mark.parametrize(
    ("call", "more"),
    [
        ("edit", {"content": "something else"}),
        ("edit", {"content": "else", "model": OTHER_MODEL}),
        ("edit", {"content": "else", "system": "Be short."}),
        ("regenerate", {"model": OTHER_MODEL}),
    ],
)
def test_a_key_with_other_content_is_a_conflict(alice: Person, hers, fake, call: str, more) -> None:
    sent = str(uuid.uuid4())
    started(alice, path(hers, call), client_key=sent, **CALLS[call][1])
    before = len(fake.calls)
    response = alice.post(path(hers, call), {"client_key": sent, **more})
    assert (response.status_code, response.json()["error"]["code"]) == (409, "conflict")
    assert len(fake.calls) == before


@pytest.mark.parametrize("call", CALLS)
def test_a_key_on_another_message_is_a_conflict(alice: Person, hers, call: str) -> None:
    sent, another = str(uuid.uuid4()), cut_short(alice, "truncated").meta
    started(alice, path(hers, call), client_key=sent, **CALLS[call][1])
    response = alice.post(path(another, call), {"client_key": sent, **CALLS[call][1]})
    assert (response.status_code, response.json()["error"]["code"]) == (409, "conflict")


@pytest.mark.parametrize("call", CALLS)
def test_two_people_may_use_the_same_key(server: Server, hers, call: str) -> None:
    sent, bob = str(uuid.uuid4()), server.person("bob")
    his = cut_short(bob, "truncated").meta
    one = started(server.person("alice"), path(hers, call), client_key=sent, **CALLS[call][1])
    two = started(bob, path(his, call), client_key=sent, **CALLS[call][1])
    assert one.run != two.run
