"""The objects in the site's URLs: a turn of alice's, one that she deleted, one that never existed."""

import re
import uuid
from dataclasses import dataclass, replace
from typing import Any

from django.urls import URLResolver, get_resolver

from tests.fake_cloudflare.text_scenarios import says_line
from tests.files import pictures
from tests.support.people import PASSWORD
from tests.support.server import Person
from tests.views.rights import NOBODYS, Row

SEEING = "@cf/google/gemma-4-26b-a4b-it"
SECRET = "a secret of alice"
HTML = "```html\n<p>Hello</p>\n```\n"


@dataclass(frozen=True)
class Turn:
    """The keys of a turn, an API key, a link and a prompt; `person` is an account that may be there."""

    conversation: str
    question: str
    reply: str
    run: str
    key: str
    link: str
    token: str
    person: str = "999999999"
    attachment: str = NOBODYS
    document: str = NOBODYS
    prompt: str = NOBODYS
    memory: str = NOBODYS
    assistant: str = NOBODYS


def make_turn(person: Person, *, picture: bool = False) -> Turn:
    """A turn whose reply shows HTML and was cut short, so that everything can be done with it; and a key."""
    files = [("cat.jpg", pictures.jpeg()), ("notes.txt", b"Notes.")] if picture else []
    uploaded = [str(person.uploaded(*file)["id"]) for file in files]
    sent: dict[str, Any] = {"model": SEEING, "attachments": uploaded} if uploaded else {}
    stream = person.asked(f"{SECRET}\n{says_line(HTML, reason='length')}", **sent)
    wanted = {"name": "a program", "run": True, "password": PASSWORD}
    key = person.post("/settings/keys/", wanted).json()["id"]
    reply = stream.meta["message"]
    shared = person.post(f"/messages/{reply}/share/", {"days": "7"}).json()
    link, token = shared["id"], shared["url"].split("/")[-2]
    kept = {"title": "A prompt", "command": key, "text": SECRET}
    prompt = person.post("/settings/prompts/", kept).json()["id"]
    memory = person.post("/settings/memory/", {"fact": f"{SECRET} {key}"}).json()["id"]
    question = stream.meta["user_message"]
    turn = Turn(stream.conversation, question, reply, stream.run, key, link, token, prompt=prompt)
    assistant = person.post("/settings/assistants/", {"name": SECRET}).json()["id"]
    turn = replace(turn, memory=memory, assistant=assistant)
    return replace(turn, attachment=uploaded[0], document=uploaded[1]) if uploaded else turn


def make_deleted_turn(person: Person, *, picture: bool = False) -> Turn:
    turn = make_turn(person, picture=picture)
    assert person.post(f"/c/{turn.conversation}/delete/").status_code == 200
    assert person.post(f"/settings/keys/{turn.key}/revoke/").status_code == 200
    assert person.post(f"/settings/prompts/{turn.prompt}/delete/").status_code == 200
    assert person.post(f"/settings/memory/{turn.memory}/delete/").status_code == 200
    assert person.post(f"/settings/assistants/{turn.assistant}/delete/").status_code == 200
    return turn


def never() -> Turn:
    return Turn(*(str(uuid.uuid4()) for _ in range(6)), token="x" * 43)


def address(row: Row, turn: Turn) -> str:
    """The row's address with the turn in it."""
    table = (*row.route.split("/"), "", "")[2]
    values = {
        "conversation": turn.conversation,
        "message": getattr(turn, row.message),
        "run": turn.run,
        "attachment": turn.attachment,
        "document": turn.document,
        "assistant": turn.assistant,
        "key": turn.key,
        "link": turn.link,
        "prompt": turn.prompt,
        "memory": turn.memory,
        "id": turn.person,
        "object_id": {
            "user": turn.person,
            "run": turn.run,
            "apikey": turn.key,
            "sharedlink": turn.link,
            "assistant": turn.assistant,
        }.get(table, turn.conversation),
        "number": "1",
        "app_label": "chat",
        "url": "nothing/",
        "rest": "1/change/",
        "token": turn.token if row.route.startswith("s/") else "a-token",
        "account": "any",
        "version": "0123456789abcdef",
        "kind": "icon",
        "model": "@cf/zai-org/glm-4.7-flash",
        "uidb64": "MQ",
        "content_type_id": "1",
    }
    path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: values[found[1]], row.route)
    return f"{path}?{row.query}" if row.query else path


def routes(resolver: URLResolver | None = None, before: str = "") -> set[str]:
    """Every address of the site as Django writes it; of a regular expression only the name of its part."""
    found = set()
    for pattern in (resolver or get_resolver()).url_patterns:
        route = before + re.sub(r"\^?\(\?P(<\w+>).*?\)(/?)\$$", r"\1\2", str(pattern.pattern))
        found |= routes(pattern, route) if isinstance(pattern, URLResolver) else {route}
    return found
