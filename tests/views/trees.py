"""Finished turns, the branch of the tree that the page shows, and the body of the last call upstream."""

import re
from typing import Any

from tests.fake_cloudflare.server import Fake
from tests.support.server import Person, Stream

CUT_SHORT = {
    "stopped": "fake: words tokens=2000 delay=0.02",
    "interrupted": "fake: cut after=5 how=abrupt",
    "truncated": "fake: length tokens=5",
}


def ask_to_end(person: Person, content: str, path: str = "/c/", **fields) -> Stream:
    """Send a message and read the reply to its end."""
    stream = person.asked(content, path, **fields)
    assert stream.finished, stream.status
    return stream


def started(person: Person, path: str, **fields) -> Stream:
    """Edit, regenerate or continue, and read the reply to its end."""
    stream = person.started(path, **fields)
    assert stream.finished, stream.status
    return stream


def shown(person: Person, conversation: str) -> list[str]:
    """Return the ids of the messages on the conversation's page."""
    page = person.get(f"/c/{conversation}/")
    assert page.status_code == 200
    return re.findall(r'id="m-([0-9a-f-]{36})"', page.text)


def cut_short(alice: Person, how: str, then: str = "words tokens=4", **fields) -> Stream:
    """Return a reply that ended as `how`. When it is continued, the fake plays `then`."""
    with alice.ask(f"{CUT_SHORT[how]}\nfake-then: {then}", **fields) as stream:
        stream.until(20)
        if how == "stopped":
            alice.stop(stream.run)
        stream.to_end()
    assert stream.done["status"] == how
    return stream


def messages(fake: Fake) -> list[tuple[str, str]]:
    """Role and content of each message."""
    return [(each["role"], each["content"]) for each in fake.calls[-1]["body"]["messages"]]


def sent(fake: Fake) -> dict[str, Any]:
    """All fields except the messages."""
    return {
        name: value for name, value in fake.calls[-1]["body"].items() if name not in ("messages", "stream")
    }
