"""The files of a process: a lock that lives as long as it does, and a journal of what cannot be stored.

Each worker locks a file of its own in DATA_DIR. The kernel releases the lock however the process ends, so a
restart knows at once that the old process is dead: it need not wait for a silent period, and a process id
that was reused or is that of another container cannot mislead it.

During an outage, the new text and the citations of live runs and the outcomes of ended ones are appended to a
file beside the lock, so that a process killed in an outage loses none. The process removes the file once
everything is stored. The file of a dead process is replayed by any process that shares the directory. It is
not synced to the disk, because it has to survive the end of the process, not a power failure.
"""

import fcntl
import json
import os
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.utils.dateparse import parse_datetime

from chat.models import Citation

from .protocol import Texts

JOURNAL_SUFFIX = ".journal"
DAMAGED_SUFFIX = ".damaged"
TIME_COLUMNS = ("finished", "first_token", "first_text_at", "started", "retry_at")
JOURNAL_CITATION_COLUMNS = ("title", "url", "attachment_id", "page", "text", "date")  # of a citation
# Names from before the first release. Such a journal can be left: an upgrade from then only migrates.
RENAMED_COLUMNS = {"because": "fallback_reason", "first_text": "first_text_at"}


class ProcessLock:
    """The lock of this process, held from creation to `release`."""

    def __init__(self, folder: Path, worker: uuid.UUID) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = folder / str(worker)
        self._file = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(self) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._file)


def is_locked(folder: Path, worker: uuid.UUID) -> bool | None:
    """Return True if the worker's process holds its lock; None if its file is not in this folder.

    True if the file cannot be opened (no descriptor left, no permission), because that proves no death.
    """
    try:
        file = os.open(folder / str(worker), os.O_RDWR)
    except FileNotFoundError:
        return None
    except OSError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


def remove_lock(folder: Path, worker: uuid.UUID) -> None:
    (folder / str(worker)).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Entry:
    """A run's texts, how much of each is stored (code points), and the columns of its outcome, if any.

    `citations` are those that are not stored.
    """

    run: uuid.UUID
    stored: tuple[int, int]
    text: str
    reasoning: str
    outcome: dict[str, Any]
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """The part of a run in the journal: code points of its texts, whether its outcome, which citations."""

    text: int
    reasoning: int
    outcome: bool = False
    citations: tuple[Citation, ...] = ()


class Journal:
    """The journal of this process."""

    def __init__(self, folder: Path, worker: uuid.UUID) -> None:
        self._path = _path(folder, worker)
        self._written: dict[uuid.UUID, Written] = {}

    @property
    def is_written(self) -> bool:
        return bool(self._written)

    def write(self, entries: Iterable[Entry]) -> None:
        """Append text, outcomes and citations that are neither stored nor written yet. Raises OSError."""
        lines, written = [], {}
        for entry in entries:
            known = self._written.get(entry.run, Written(*entry.stored))
            state = Written(len(entry.text), len(entry.reasoning), bool(entry.outcome), entry.citations)
            if state != known:
                written[entry.run] = state
                lines.append(json.dumps(_line(entry, known), cls=DjangoJSONEncoder))
        if lines:
            self._append("".join(f"\n{line}" for line in lines))
        self._written |= written

    def _append(self, lines: str) -> None:
        """Append `lines`. Their first line break ends a line that an earlier write left unfinished."""
        file = os.open(self._path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        with os.fdopen(file, "a", encoding="ascii") as stream:
            stream.write(lines)

    def settle(self, live: Mapping[uuid.UUID, tuple[int, int]], owed: Collection[uuid.UUID]) -> None:
        """Drop the runs whose text is stored by now, and remove the file if none is left. Raises OSError.

        `live`: {live run: code points of its text and reasoning that are stored}. `owed`: runs whose outcome
        or citations are not stored yet.
        """
        self._written = {
            run: state
            for run, state in self._written.items()
            if run in owed or (run in live and _is_beyond(state, live[run]))
        }
        if not self._written:
            self._remove()

    def _remove(self) -> None:
        try:
            self._path.unlink(missing_ok=True)
        except OSError:
            os.truncate(self._path, 0)  # a full copy-on-write disk may refuse to unlink, yet truncate


@dataclass(slots=True)
class Remains:
    """The part of a dead process's journal about one run.

    The pieces of its texts are (start, piece). `outcome` is {column: value}, empty for a run that was live.
    `citations` are not saved.
    """

    text: list[tuple[int, str]] = field(default_factory=list)
    reasoning: list[tuple[int, str]] = field(default_factory=list)
    outcome: dict[str, Any] = field(default_factory=dict)
    citations: list[Citation] = field(default_factory=list)

    def appended_to(self, stored: Texts) -> Texts:
        """Return the stored texts, extended by the pieces of the journal."""
        return Texts(_joined(stored.text, self.text), _joined(stored.reasoning, self.reasoning))


def _is_beyond(written: Written, stored: tuple[int, int]) -> bool:
    return written.text > stored[0] or written.reasoning > stored[1]


def left_behind(folder: Path, worker: uuid.UUID) -> list[uuid.UUID]:
    """Return the dead workers whose journals are in this folder, but never `worker` itself."""
    found = []
    for path in folder.glob(f"*{JOURNAL_SUFFIX}"):
        with suppress(ValueError):  # not a file of ours
            found.append(uuid.UUID(path.stem))
    return [dead for dead in found if dead != worker and not is_locked(folder, dead)]


def read(folder: Path, worker: uuid.UUID) -> dict[uuid.UUID, Remains]:
    runs: dict[uuid.UUID, Remains] = {}
    for line in _lines(_path(folder, worker)):
        remains = runs.setdefault(uuid.UUID(line["run"]), Remains())
        remains.text.append((line["text_at"], line["text"]))
        remains.reasoning.append((line["reasoning_at"], line["reasoning"]))
        outcome = {RENAMED_COLUMNS.get(name, name): value for name, value in line["outcome"].items()}
        remains.outcome = {name: _value(name, value) for name, value in outcome.items()}
        if cited := line.get("citations"):
            remains.citations = [
                Citation(**{name: each[name] for name in JOURNAL_CITATION_COLUMNS}) for each in cited
            ]
    return runs


def set_aside(folder: Path, worker: uuid.UUID) -> Path:
    """Rename a journal that cannot be stored, so that it is kept and not read again. Return its path."""
    return _path(folder, worker).rename(_path(folder, worker).with_suffix(DAMAGED_SUFFIX))


def remove(folder: Path, worker: uuid.UUID) -> None:
    _path(folder, worker).unlink(missing_ok=True)


def _path(folder: Path, worker: uuid.UUID) -> Path:
    return folder / f"{worker}{JOURNAL_SUFFIX}"


def _line(entry: Entry, written: Written) -> dict[str, Any]:
    """Return what of the entry is not written. Citations are written again if others replace them."""
    line = {
        "run": str(entry.run),
        "text_at": written.text,
        "text": entry.text[written.text :],
        "reasoning_at": written.reasoning,
        "reasoning": entry.reasoning[written.reasoning :],
        "outcome": entry.outcome,
    }
    if entry.citations != written.citations:
        line["citations"] = [
            {name: getattr(each, name) for name in JOURNAL_CITATION_COLUMNS} for each in entry.citations
        ]
    return line


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the complete lines. One may be cut off, if the process was killed or the disk was full."""
    try:
        content = path.read_text("ascii", errors="replace")
    except FileNotFoundError:
        return
    for line in content.splitlines():
        with suppress(ValueError):
            yield json.loads(line)


def _joined(text: str, pieces: Iterable[tuple[int, str]]) -> str:
    """Return `text` extended by the pieces, up to the first gap. Overlapping pieces agree."""
    for at, piece in pieces:
        if at > len(text):
            break
        text += piece[len(text) - at :]
    return text


def _value(name: str, value: Any) -> Any:
    """Return a column's value as it was before JSON: times are parsed."""
    return parse_datetime(value) if name in TIME_COLUMNS and value else value
