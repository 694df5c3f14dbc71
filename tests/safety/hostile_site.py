"""A conversation, assistants and prompts whose every name and text is a payload."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any
from urllib.parse import quote, urlsplit

from tests.fake_cloudflare import ai_search
from tests.fake_cloudflare.text_scenarios import says_line
from tests.files import pictures
from tests.safety.payloads import ADDRESSES, LEAKS, SCRIPTS, aimed
from tests.support.databases import Database
from tests.support.server import Person, Server
from tests.views.objects import SEEING

KNOWLEDGE = "ai-search/web"
BOUNDARY = "----hostile"
FENCE = "~" * 12
QUESTION = "fake: words tokens=3 delay=0"  # else the fake repeats the documents
SOURCES = 50  # that AI Search finds at most; the reply also cites its documents
NO_FIELD = str.maketrans("", "", "{}:")  # what a field's name may not hold
MARKS = set("<>'\"")


class Vectors:
    """The payloads, over and over: each field gets the next that fits."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.all = [text.replace("\0", "") for text in aimed(SCRIPTS, port) + aimed(LEAKS, port)]
        self._next = cycle(self.all)

    def line(self, longest: int) -> str:
        return next(text for text in map(_joined, self._next) if len(text) <= longest)

    def lines(self, count: int, longest: int) -> list[str]:
        return [self.line(longest) for _ in range(count)]

    def file_name(self, ending: str) -> str:
        """A file's name is what follows the last slash of what the browser sent."""
        fitting = (text for text in map(_joined, self._next) if not set("/\\") & set(text))
        return next(text for text in fitting if len(text) <= 80 and MARKS & set(text)) + ending

    @property
    def text(self) -> str:
        return "\n\n".join(self.all)

    def chunks(self) -> list[dict[str, Any]]:
        """The results of a search: each source is a payload, and so is its passage."""
        keys = [*aimed(ADDRESSES, self.port), *self.all][:SOURCES]
        texts = reversed(self.all)
        return [
            ai_search.chunk(number, key, 1 - number / 1_000, text)
            for number, (key, text) in enumerate(zip(keys, texts, strict=False), 1)
        ]


def _joined(text: str) -> str:
    return " ".join(text.split())


@dataclass
class HostileSite:
    """Ids and addresses, and what each page has to show."""

    vectors: Vectors
    files: list[dict[str, Any]] = field(default_factory=list)  # as the server describes them
    names: list[str] = field(default_factory=list)  # and alternative texts
    conversation: str = ""
    replies: list[str] = field(default_factory=list)
    question: str = ""
    shared: str = ""
    owner: str = ""  # the administrator's name
    workbench: str = ""  # a conversation with two versions of the code
    title: str = ""
    group: str = ""
    assistants: dict[str, Any] = field(default_factory=dict)  # what was sent, by id; alice's is the first
    prompts: dict[str, Any] = field(default_factory=dict)

    @property
    def assistant(self) -> str:
        return next(iter(self.assistants))

    @property
    def document(self) -> dict[str, Any]:
        return next(each for each in self.files if each["kind"] == "document")


def build(server: Server, database: Database, port: int) -> HostileSite:
    site = HostileSite(Vectors(port))
    alice, root = server.person("alice"), server.person("root")
    site.group = site.vectors.line(100)
    site.owner = site.vectors.line(100)
    group, owner = site.group.replace("'", "''"), site.owner.replace("'", "''")
    database.rows(f"INSERT INTO auth_group (name) VALUES ('{group}')")
    database.rows(f"UPDATE chat_user SET username = '{owner}' WHERE email = 'root@example.org'")
    groups = [database.value(f"SELECT id FROM auth_group WHERE name = '{group}'")]
    for person in (alice, root, root):
        add_assistant(site, person)
        for number in range(8):
            add_prompt(site, person, groups if person is root and number % 2 else None)
    _alices, everybodys, groups_own = site.assistants
    for key, audience in ((everybodys, {"everybody": True}), (groups_own, {"groups": groups})):
        assert root.post(f"/settings/assistants/{key}/publish/", audience).status_code == 200
    add_conversation(site, alice)
    add_code(site, alice)
    return site


def add_assistant(site: HostileSite, person: Person) -> None:
    vectors = site.vectors
    document = upload(person, vectors.file_name(".txt"), vectors.text.encode())
    sent = {
        "name": vectors.line(80),
        "description": vectors.line(300),
        "instructions": vectors.text,
        "questions": vectors.lines(4, 300),
        "documents": [document["id"]],
    }
    response = person.post("/settings/assistants/", sent)
    assert response.status_code == 201, response.text
    site.assistants[response.json()["id"]] = sent | {"file": document["name"]}


def add_prompt(site: HostileSite, person: Person, groups: Sequence[int] | None) -> None:
    vectors = site.vectors
    fields = [(vectors.line(200).translate(NO_FIELD), vectors.line(200).translate(NO_FIELD)) for _ in "12"]
    text = vectors.line(500) + " ".join(f" {{{{{name}:{preset}}}}}" for name, preset in fields)
    sent: dict[str, Any] = {"title": vectors.line(100), "command": f"/p{len(site.prompts)}", "text": text}
    if groups is not None:
        sent |= {"audience": "groups", "groups": groups}
    response = person.post("/settings/prompts/", sent)
    assert response.status_code == 201, response.text
    site.prompts[response.json()["id"]] = sent | {"fields": fields}


def add_conversation(site: HostileSite, alice: Person) -> None:
    vectors = site.vectors
    for number in range(3):
        picture = upload(alice, vectors.file_name(".png"), pictures.png(8 + number, 8))
        alt = vectors.line(500) if number else ""
        assert alice.client.patch(picture["url"], json={"alt": alt}).status_code == 200
        site.files.append(picture)
        site.names.append(alt or picture["name"])
    for number in range(4):
        name = vectors.file_name(".txt")
        site.files.append(upload(alice, name, f"{vectors.text}\n{number}".encode()))
        site.names.append(site.files[-1]["name"])
    sent = [each["id"] for each in site.files]
    stream = alice.asked(QUESTION, model=SEEING, attachments=sent, assistant=site.assistant)
    site.conversation, site.question = stream.conversation, stream.meta["user_message"]
    site.replies.append(stream.meta["message"])
    stream = alice.asked(QUESTION, f"/c/{site.conversation}/messages/", model=KNOWLEDGE)
    assert stream.done
    assert stream.done["citations"] > SOURCES
    site.replies.append(stream.meta["message"])
    site.title = vectors.line(80)
    assert alice.post(f"/c/{site.conversation}/rename/", {"title": site.title}).status_code == 200
    link = alice.post(f"/messages/{site.replies[-1]}/share/", {"title": site.title, "name": True})
    assert link.status_code == 201, link.text
    site.shared = urlsplit(link.json()["url"]).path


def add_code(site: HostileSite, alice: Person) -> None:
    """A page of all payloads, and a version of it, each asked for by a payload."""
    for number, text in enumerate((site.vectors.text, site.vectors.text[::2] + site.vectors.text)):
        address = f"/c/{site.workbench}/messages/" if number else "/c/"
        code = f"{FENCE}html\n<!doctype html>\n{text}\n{FENCE}\n"
        with alice.ask(f"{site.vectors.line(200)}\n{says_line(code)}", address) as stream:
            stream.to_end()
        site.workbench = stream.conversation


def upload(person: Person, name: str, content: bytes) -> dict[str, Any]:
    """Send a file under exactly this name, which an ordinary client would encode."""
    disposition = f"form-data; name=\"file\"; filename*=UTF-8''{quote(name, safe='')}"
    head = f"--{BOUNDARY}\r\nContent-Disposition: {disposition}\r\n\r\n"
    body = head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()
    kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    response = person.client.post("/attachments/", content=body, headers=kind)
    assert response.status_code == 201, response.text
    told: dict[str, Any] = response.json()
    assert MARKS & set(told["name"])
    return told
