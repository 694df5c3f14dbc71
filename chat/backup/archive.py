"""The format of an archive, which knows no database.

It is one zip file: `tables/<name>.jsonl` with a JSON list of values for each row, the files of the site, and
a manifest with the tables, their numbers of rows, and the sizes and SHA-256 digests of all members.
"""

import hashlib
import os
import shutil
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, Annotated, Self

import msgspec

from chat.files.files import SHA256
from chat.limits import MEGABYTE

from .tables import FROM_ARCHIVE, BackupError, Count, Name, Table, TableRow, converter

MANIFEST_FILE = "manifest.json"
SECRET_KEY_FILE = "secret-key"  # noqa: S105 - the name of a file
MEDIA = "media/"
ATTACHMENTS_FOLDER = "attachments/"
SQLITE_MEMBER = "database.sqlite3"  # of the former format
TABLES_FOLDER = "tables/"
BACKUP_PIECE_BYTES = 1_048_576
MAX_MANIFEST_BYTES = 64 * 1_048_576
SPARE_BYTES = 100_000_000  # that a restore leaves free on a disk
# Of a SQLite file to its rows as JSON: 1.8 with 100,000 messages, and 2.4 with the index of the search.
DATABASE_FACTOR = 3
COMPRESSION_LEVEL = 1  # reduces to a third of the size, in a tenth of the default level's time

# Raised by zipfile for damaged data; a RuntimeError for a member that claims to be encrypted, as does
# NotImplementedError for an unknown compression.
ZIP_ERRORS = (OSError, EOFError, KeyError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error)

BackupProgress = Callable[[str, int, int], None]
"""Called as `progress(activity, done, total)`."""


class Member(msgspec.Struct, frozen=True):
    bytes: Count
    sha256: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]


class Manifest(msgspec.Struct, forbid_unknown_fields=True, tag_field="format", tag=2):
    """The description of an archive: `migrations` are the applied ones as (app, name), in order."""

    created: datetime
    migrations: list[tuple[Name, Name]] = []
    tables: list[Table] = []
    members: dict[Name, Member] = {}

    def needed(self) -> set[str]:
        """Return the members without which the archive has no database."""
        return {member_of(table) for table in self.tables}

    def count(self) -> int:
        return sum(table.rows for table in self.tables)


class FormerManifest(msgspec.Struct, forbid_unknown_fields=True, tag_field="format", tag=1):
    """The description of a backup of 5b079f9, see `former.py`: `rows` is the number of rows by table."""

    engine: Name
    created: datetime
    rows: dict[Name, Count] = {}
    migrations: list[tuple[Name, Name]] = []
    members: dict[Name, Member] = {}

    def needed(self) -> set[str]:
        is_file = self.engine == "sqlite"
        return {SQLITE_MEMBER} if is_file else {f"{TABLES_FOLDER}{table}" for table in self.rows}

    def count(self) -> int:
        return sum(self.rows.values())


def member_of(table: Table) -> str:
    return f"{TABLES_FOLDER}{table.name}.jsonl"


DECODER = msgspec.json.Decoder(list[str | int | float | None])


def damaged_files(manifest: Manifest) -> list[str]:
    """Return the packed attachments whose content is not what their name, its hash, says."""
    attachments = {
        name: name.rpartition("/")[2] for name in manifest.members if name.startswith(ATTACHMENTS_FOLDER)
    }
    return [
        name
        for name, key in attachments.items()
        if SHA256.fullmatch(key) and manifest.members[name].sha256 != key
    ]


class ArchiveWriter:
    """Write an archive: its members, and the manifest as the last one."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        self._file: IO[bytes] = os.fdopen(file, "w+b")
        self._zip = zipfile.ZipFile(
            self._file, "w", zipfile.ZIP_DEFLATED, allowZip64=True, compresslevel=COMPRESSION_LEVEL
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is None:
            self._zip.writestr(
                MANIFEST_FILE, msgspec.json.format(msgspec.json.encode(self.manifest), indent=1)
            )
        self._zip.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def add(self, name: str, pieces: Iterable[bytes]) -> int:
        """Write one member. Return its number of lines."""
        digest, size, lines = hashlib.sha256(), 0, 0
        with self._zip.open(name, "w", force_zip64=True) as member:
            for piece in pieces:
                member.write(piece)
                digest.update(piece)
                size += len(piece)
                lines += piece.count(b"\n")
        self.manifest.members[name] = Member(size, digest.hexdigest())
        return lines

    def add_table(self, table: Table, rows: Iterable[TableRow]) -> None:
        """Write all rows of a table, one a line. Raises BackupError: when they are more or less."""
        self.manifest.tables.append(table)
        if self.add(member_of(table), _lines(rows)) != table.rows:
            raise BackupError(f"The table {table.name} was not copied whole.")


class Archive:
    """An archive opened for reading. Raises BackupError: when it is none, or of an unknown format."""

    manifest: Manifest | FormerManifest

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except ZIP_ERRORS as error:
            raise BackupError(f"{path} cannot be read as a backup: {error}.") from None
        try:
            self.manifest = self._read_manifest()
        except (msgspec.DecodeError, *ZIP_ERRORS) as error:
            self._zip.close()
            raise BackupError(f"{path} is not a backup of this chat, or its manifest is damaged.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._zip.close()

    def _read_manifest(self) -> Manifest | FormerManifest:
        if self._zip.getinfo(MANIFEST_FILE).file_size > MAX_MANIFEST_BYTES:
            raise ValueError("too long")
        manifest = msgspec.json.decode(self._zip.read(MANIFEST_FILE), type=Manifest | FormerManifest)
        if not all(map(_is_safe, manifest.members)):
            raise ValueError("a member leads out of its folder")
        if missing := manifest.needed() - manifest.members.keys():
            raise ValueError(f"{min(missing)} is not in it")
        return manifest

    def verify(self, progress: BackupProgress) -> None:
        """Read the whole backup once. Raises BackupError: when a byte differs from what was written."""
        total = sum(each.bytes for each in self.manifest.members.values())
        done = 0
        for name in self.manifest.members:
            for piece in self.read(name):
                done += len(piece)
                progress("verifying the backup", done, total)

    def tables(self) -> list[Table]:
        return self.manifest.tables if isinstance(self.manifest, Manifest) else []

    def rows(self, table: Table) -> Iterator[TableRow]:
        """Yield the rows. Raises BackupError: when the member is damaged, also after its last row."""
        convert, columns = converter(table.kinds, FROM_ARCHIVE), len(table.columns)
        try:
            for line in self.lines(member_of(table)):
                row = DECODER.decode(line)
                if len(row) != columns:
                    raise ValueError("a row has other columns")
                yield convert(row)
        except (msgspec.MsgspecError, ValueError) as error:
            raise BackupError(f"The backup is damaged: {table.name} cannot be read ({error}).") from None

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a member. Raises BackupError as `read` does."""
        rest = b""
        for piece in self.read(name):
            *whole, rest = (rest + piece).split(b"\n")
            yield from whole
        if rest:
            raise BackupError(f"The backup is damaged: the last line of {name} has no end.")

    def read(self, name: str) -> Iterator[bytes]:
        """Yield a member in pieces.

        Raises BackupError: when it cannot be read, or, after its last piece, when size or digest are wrong.
        """
        expected = self.manifest.members[name]
        digest, size = hashlib.sha256(), 0
        try:
            with self._zip.open(name) as member:
                for piece in pieces_of(member):
                    digest.update(piece)
                    size += len(piece)
                    yield piece
        except ZIP_ERRORS as error:
            raise BackupError(f"The backup is damaged: {name} cannot be read ({error}).") from None
        if Member(size, digest.hexdigest()) != expected:
            raise BackupError(f"The backup is damaged: {name} is not what was written.")

    def check_space(self, folders: dict[str, Path]) -> None:
        """Raise BackupError if the members do not fit onto the disks.

        `folders`: where they are written, by the beginnings of their names.
        """
        needed: Counter[int] = Counter()
        for name, member in self.manifest.members.items():
            factor = DATABASE_FACTOR if name.startswith((TABLES_FOLDER, SQLITE_MEMBER)) else 1
            for beginning, folder in folders.items():
                if name.startswith(beginning):
                    needed[folder.stat().st_dev] += member.bytes * factor
        for folder in folders.values():
            free, wanted = shutil.disk_usage(folder).free, needed[folder.stat().st_dev] + SPARE_BYTES
            if free < wanted:
                megabytes = f"{wanted // MEGABYTE:,} MB in {folder}, but {free // MEGABYTE:,} MB"
                raise BackupError(f"The restore needs {megabytes} are free.")

    def extract(self, name: str, path: Path) -> None:
        """Write a member into a new file that only its owner can read. Raises BackupError."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            for piece in self.read(name):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())


def _is_safe(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in name


def _lines(rows: Iterable[TableRow]) -> Iterator[bytes]:
    """Yield the rows as JSON in pieces of whole lines."""
    encode, piece = msgspec.json.Encoder().encode, bytearray()
    for row in rows:
        piece += encode(row)
        piece += b"\n"
        if len(piece) >= BACKUP_PIECE_BYTES:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def pieces_of(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(BACKUP_PIECE_BYTES):
        yield piece
