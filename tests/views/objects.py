"""What the addresses of the site are about: a turn of alice's, one that she deleted, one that never was."""

import re
import uuid
from dataclasses import dataclass

from django.urls import URLResolver, get_resolver

from tests.support.people import PASSWORD
from tests.support.server import Person
from tests.views.rights import Row

SECRET = "a secret of alice"


@dataclass(frozen=True)
class Turn:
    """The keys of one turn, each as a text, and of an API key; `person` is an account that may be there."""

    conversation: str
    question: str
    reply: str
    run: str
    key: str
    person: str = "999999999"


def ask(person: Person) -> Turn:
    """A turn whose reply was cut short, so that everything can be done with it; and a key."""
    with person.ask(f"{SECRET}\nfake: length tokens=3 delay=0") as stream:
        stream.to_end()
    wanted = {"name": "a program", "run": True, "password": PASSWORD}
    key = person.post("/settings/keys/", wanted).json()["id"]
    return Turn(stream.conversation, stream.meta["user_message"], stream.meta["message"], stream.run, key)


def ask_and_delete(person: Person) -> Turn:
    turn = ask(person)
    assert person.post(f"/c/{turn.conversation}/delete/").status_code == 200
    assert person.post(f"/settings/keys/{turn.key}/revoke/").status_code == 200
    return turn


def never() -> Turn:
    return Turn(*(str(uuid.uuid4()) for _ in range(5)))


def address(row: Row, turn: Turn) -> str:
    """The row's address with the turn in it."""
    table = (*row.route.split("/"), "", "")[2]
    values = {
        "conversation": turn.conversation,
        "message": getattr(turn, row.message),
        "run": turn.run,
        "key": turn.key,
        "id": turn.person,
        "object_id": {"user": turn.person, "run": turn.run, "apikey": turn.key}.get(table, turn.conversation),
        "app_label": "chat",
        "url": "nothing/",
        "token": "a-token",
        "account": "any",
        "model": "@cf/zai-org/glm-4.7-flash",
        "uidb64": "MQ",
        "content_type_id": "1",
    }
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: values[found[1]], row.route)


def routes(resolver: URLResolver | None = None, before: str = "") -> set[str]:
    """Every address of the site as Django writes it; of a regular expression only the name of its part."""
    found = set()
    for pattern in (resolver or get_resolver()).url_patterns:
        route = before + re.sub(r"\^?\(\?P(<\w+>).*?\)(/?)\$$", r"\1\2", str(pattern.pattern))
        found |= routes(pattern, route) if isinstance(pattern, URLResolver) else {route}
    return found
