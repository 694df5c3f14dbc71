"""A made site of any size: people, conversations with runs, thumbs and titles, calls, and the search index.

Rows go into the database past the application: by COPY on PostgreSQL, by prepared inserts on SQLite.
"""

import json
import random
import sqlite3
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from chat.search import words
from chat.search.postgres import tsvector
from chat.search.words import message_tag, title_tag
from tests.support.databases import Database

VOCABULARY = 30_000  # words; the n-th is n times rarer than the first
TEXTS = 2_000  # of each length; a message has one of them
WORDS = {"user": 15, "assistant": 100}
PERIOD = timedelta(days=365)
LATEST = timedelta(minutes=5)  # no row is younger
CHUNK = 1_000  # conversations stored in one transaction
MODELS = (
    "@cf/zai-org/glm-4.7-flash",
    "@cf/openai/gpt-oss-120b",
    "@cf/meta/llama-3.3-70b-instruct-fp8-fast",
    "@cf/qwen/qwen3-30b-a3b-fp8",
    "@cf/mistralai/mistral-small-3.1-24b-instruct",
)
ENDS = {"complete": 940, "failed": 20, "stopped": 20, "truncated": 10, "interrupted": 10}
CODES = {"failed": "busy", "truncated": "length", "interrupted": "interrupted"}
FIRST_DOCUMENT = 1_000_000_000

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Size:
    """`own`: how many of the conversations, and of the messages, are alice's; one of hers has `longest`."""

    people: int = 2_000
    conversations: int = 100_000
    messages: int = 1_000_000
    own_conversations: int = 20_000
    own_messages: int = 100_000
    longest: int = 10_000
    calls: int = 200_000
    readings: int = 20_000

    def divided(self, by: int) -> "Size":
        return Size(*(max(1, getattr(self, name) // by) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Site:
    """The rows of a site: `longest` is the conversation with the most messages, `request` an id of a run."""

    longest: uuid.UUID
    request: str
    alice: int


def word(rank: int) -> str:
    """Return the word of this rank, of letters, so that no two are prefixes of each other by chance."""
    letters = ""
    while rank or not letters:
        rank, letter = divmod(rank, 20)
        letters += "bcdfghjklmnpqrstvwxz"[letter] + "aeiou"[letter % 5]
    return letters + "n"


def texts(chance: random.Random, count: int, length: int) -> list[str]:
    vocabulary = [word(rank) for rank in range(VOCABULARY)]
    weights = [1 / (rank + 1) for rank in range(VOCABULARY)]
    return [" ".join(chance.choices(vocabulary, weights, k=length)) for _ in range(count)]


class _Store:
    """Rows of all tables, kept until `flush` writes them in one transaction."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._rows: dict[tuple[str, tuple[str, ...]], list[Row]] = defaultdict(list)

    def add(self, table: str, **values: Any) -> None:
        self._rows[table, tuple(values)].append(tuple(values.values()))

    def flush(self) -> None:
        for (table, columns), rows in self._rows.items():
            self._write(table, columns, rows)
        self._rows.clear()
        self._session.commit()

    def _write(self, table: str, columns: Sequence[str], rows: list[Row]) -> None:
        raise NotImplementedError

    def prepared(self, indexed: Sequence[str]) -> str:
        """Return the words as their table takes them, without the tag that precedes them."""
        raise NotImplementedError

    def tagged(self, tag: str, prepared: str) -> str:
        raise NotImplementedError

    def finish(self) -> None:
        """Let the database know what it holds."""
        raise NotImplementedError


class _Sqlite(_Store):
    words_table = ("rowid", "words")

    def _write(self, table: str, columns: Sequence[str], rows: list[Row]) -> None:
        marks = ", ".join("?" * len(columns))
        self._session.executemany(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})",
            (tuple(map(_to_sqlite, row)) for row in rows),
        )

    def prepared(self, indexed: Sequence[str]) -> str:
        return " ".join(indexed)

    def tagged(self, tag: str, prepared: str) -> str:
        return f"{tag} {prepared}"

    def finish(self) -> None:
        self._session.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class _Postgres(_Store):
    words_table = ("id", "words")

    def _write(self, table: str, columns: Sequence[str], rows: list[Row]) -> None:
        with self._session.cursor().copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    def prepared(self, indexed: Sequence[str]) -> str:
        # The tag has the first position.
        return tsvector(["_", *indexed]).partition(" ")[2]

    def tagged(self, tag: str, prepared: str) -> str:
        return f"'{tag}':1 {prepared}"

    def finish(self) -> None:
        self._session.execute(
            "SELECT setval(pg_get_serial_sequence('chat_searchdocument', 'id'), max(id)) "
            "FROM chat_searchdocument"
        )
        for table in ("chat_user", "chat_conversationaccess"):
            self._session.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"
            )
        self._session.commit()
        self._session.autocommit = True
        self._session.execute("VACUUM ANALYZE")


def _to_sqlite(value: Any) -> Any:
    if isinstance(value, uuid.UUID):
        return value.hex
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S.%f")
    return value


@contextmanager
def _opened(database: Database) -> Iterator[Any]:
    if database.url.startswith("sqlite"):
        connection = sqlite3.connect(database.url.removeprefix("sqlite:///"), timeout=20)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA cache_size=-200000")
        try:
            yield _Sqlite(connection)
        finally:
            connection.close()
    else:
        with psycopg.connect(database.url) as session:
            session.execute("SET synchronous_commit = off")
            yield _Postgres(session)


@dataclass
class _Maker:
    store: Any
    size: Size
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    documents: int = FIRST_DOCUMENT
    request: str = ""

    def __post_init__(self) -> None:
        self.now = datetime.now(UTC) - LATEST
        self.pool = {
            role: [
                (text, self.store.prepared(words.indexed(text))) for text in texts(self.chance, TEXTS, length)
            ]
            for role, length in WORDS.items()
        }

    def key(self) -> uuid.UUID:
        return uuid.UUID(int=self.chance.getrandbits(128), version=4)

    def people(self, present: dict[str, int]) -> list[int]:
        """Add people until there are enough. Return the ids of all but alice."""
        first = max(present.values()) + 1
        for key in range(first, first + self.size.people - len(present)):
            name = f"{word(key)}{key}"
            self.store.add(
                "chat_user", id=key, password="!", last_login=self.now, is_superuser=False, username=name,
                first_name="", last_name="", email=f"{name}@example.org", is_staff=False, is_active=True,
                date_joined=self.now,
            )  # fmt: skip
            present[name] = key
        self.store.flush()
        return [key for name, key in present.items() if name != "alice"]

    def conversations(self, alice: int, others: list[int]) -> uuid.UUID:
        """Add all conversations, the oldest first. Return the one with the most messages."""
        size = self.size
        each = max(1, (size.own_messages - size.longest) // size.own_conversations)
        owners = [(alice, each)] * (size.own_conversations - 1)
        rest = size.conversations - size.own_conversations
        average = (size.messages - size.own_messages) / rest
        for number in range(rest):
            lengths = int(average * (number + 1)) - int(average * number)
            owners.append((others[number % len(others)], lengths))
        self.chance.shuffle(owners)
        place = len(owners) // 2
        owners.insert(place, (alice, size.longest))
        longest = uuid.UUID(int=0)
        for number, (owner, messages) in enumerate(owners):
            began = self.now - PERIOD * (1 - number / len(owners))
            made = self._conversation(owner, messages, began, number)
            longest = made if number == place else longest
            if number % CHUNK == CHUNK - 1:
                self.store.flush()
        self.store.flush()
        return longest

    def _conversation(self, owner: int, messages: int, began: datetime, number: int) -> uuid.UUID:
        conversation, model = self.key(), self.chance.choice(MODELS)
        title = f"{self.chance.choice(self.pool['user'])[0][:60]} {number}"
        at, parent = began, None
        for place in range(messages):
            role = ("user", "assistant")[place % 2]
            at = min(at + timedelta(seconds=30), self.now)
            text, prepared = self.chance.choice(self.pool[role])
            message = self.key()
            self.store.add(
                "chat_message", id=message, conversation_id=conversation, parent_id=parent, role=role,
                text=text, reasoning="", model=model if role == "assistant" else "", created=at,
            )  # fmt: skip
            self._document(owner, prepared, message=message)
            if role == "assistant":
                self._run(owner, conversation, message, model, at)
            parent = message
        self._title(owner, conversation, title, model, began)
        deleted = at if number % 50 == 7 else None
        self.store.add(
            "chat_conversation", id=conversation, user_id=owner, title=title, model=model, system="",
            active_leaf_id=parent, created=began, updated=at, last_seen=at, deleted=deleted,
            archived_at=at if number % 20 == 3 and not deleted else None, title_state="final",
        )  # fmt: skip
        return conversation

    def _run(self, owner: int, conversation: uuid.UUID, message: uuid.UUID, model: str, at: datetime) -> str:
        run, (status,) = self.key(), self.chance.choices(list(ENDS), list(ENDS.values()))
        self.request = f"req-{run.hex}"
        self.store.add(
            "chat_run", id=run, user_id=owner, conversation_id=conversation, message_id=message,
            client_key=self.key(), fingerprint="f", max_tokens=1_000, status=status, stop_requested=False,
            text_offset=0, text_length=100, reasoning_offset=0, reasoning_length=0, answered_by="",
            fallback_reason="", created=at, started=at, finished=at + timedelta(seconds=3),
            **self._usage(model, status, self.request),
        )  # fmt: skip
        if self.chance.random() < 0.01:
            self.store.add(
                "chat_feedback", message_id=message, conversation=conversation, user_id=owner,
                up=self.chance.random() < 0.6, reason="", updated=at,
            )  # fmt: skip
        return status

    def _usage(self, model: str, status: str, request: str) -> dict[str, Any]:
        code = CODES.get(status, "")
        return {
            "model": model,
            "finish_reason": "stop",
            "error_code": code,
            "error_message": f"The model answered {code}." if code else "",
            "request_id": request,
            "prompt_tokens": 500,
            "completion_tokens": 100,
            "cached_tokens": 0,
            "neurons": 1.5,
            "gateway": "",
            "gateway_log": "",
            "gateway_cached": False,
            "served_by": "",
        }

    def _title(self, owner: int, conversation: uuid.UUID, title: str, model: str, at: datetime) -> None:
        self._document(owner, self.store.prepared(words.indexed(title)), conversation=conversation)
        self.store.add(
            "chat_titlerequest", id=self.key(), user_id=owner, conversation_id=conversation,
            status="complete", created=at, finished=at + timedelta(seconds=1),
            **self._usage(model, "complete", f"title-{conversation.hex}"),
        )  # fmt: skip

    def _document(
        self,
        owner: int,
        prepared: str,
        message: uuid.UUID | None = None,
        conversation: uuid.UUID | None = None,
    ) -> None:
        tag = message_tag(owner) if message else title_tag(owner)
        key, name = self.documents, self.store.words_table
        self.documents += 1
        self.store.add("chat_searchdocument", id=key, owner=owner, message=message, conversation=conversation)
        self.store.add(
            "chat_search_words", **dict(zip(name, (key, self.store.tagged(tag, prepared)), strict=True))
        )

    def calls(self, people: list[int]) -> None:
        for number in range(self.size.calls):
            at = self.now - PERIOD * (1 - number / self.size.calls)
            (status,) = self.chance.choices(list(ENDS), list(ENDS.values()))
            self.store.add(
                "chat_call", id=self.key(), user_id=people[number % len(people)], dialect="openai",
                streamed=True, status=status, created=at, finished=at + timedelta(seconds=2),
                **self._usage(self.chance.choice(MODELS), status, f"call-{number}"),
            )  # fmt: skip
            if number % 20_000 == 0:
                self.store.flush()
        self.store.flush()

    def readings(self, people: list[int]) -> None:
        for number in range(self.size.readings):
            at, owner = self.now - PERIOD * (1 - number / self.size.readings), people[number % len(people)]
            self.store.add(
                "chat_conversationaccess", id=number + 1, at=at, kind="list", reader_key=1, reader="erin",
                owner="", title="", words=word(number % VOCABULARY),
            )  # fmt: skip
            self.store.add(
                "chat_conversationaccessowner", access_id=number + 1, owner_key=owner,
                owner=f"person {owner}", conversations=json.dumps([str(self.key())]),
            )  # fmt: skip
        self.store.flush()


def fill(database: Database, size: Size) -> Site:
    """Fill a database that has its people (tests.support.people) and nothing else."""
    present = dict(database.rows("SELECT username, id FROM chat_user"))
    alice = present["alice"]
    with _opened(database) as store:
        made = _Maker(store, size)
        others = made.people(present)
        longest = made.conversations(alice, others)
        made.calls([alice, *others])
        made.readings(others)
        store.finish()
        return Site(longest, made.request, alice)
