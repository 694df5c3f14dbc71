"""The format of a backup: one zip file of members, with a manifest of their sizes and SHA-256 digests."""

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, Self

from chat.attachments.files import SHA256

BACKUP_FORMAT = 1
MANIFEST_FILE = "manifest.json"
SECRET_KEY_FILE = "secret-key"  # noqa: S105 - the name of a file
MEDIA = "media/"
ATTACHMENTS_FOLDER = "attachments/"
BACKUP_PIECE_BYTES = 1_048_576
MAX_MANIFEST_BYTES = 64 * 1_048_576
COMPRESSION_LEVEL = 1  # reduces to a third of the size, in a tenth of the default level's time

# Raised by zipfile for damaged data; a RuntimeError for a member that claims to be encrypted, as does
# NotImplementedError for an unknown compression.
ZIP_ERRORS = (OSError, EOFError, KeyError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error)

BackupProgress = Callable[[str, int, int], None]
"""Called as `progress(activity, done, total)`."""


class BackupError(Exception):
    """A backup cannot be made, read or restored. The message is a whole sentence."""


@dataclass
class Manifest:
    """The description of a backup.

    `rows` is the number of rows by table, `migrations` the applied ones as (app, name), in order, and
    `members` {"bytes", "sha256"} by name of the member.
    """

    engine: str
    created: str
    rows: dict[str, int] = field(default_factory=dict)
    migrations: list[tuple[str, str]] = field(default_factory=list)
    members: dict[str, dict[str, Any]] = field(default_factory=dict)
    format: int = BACKUP_FORMAT


def damaged_files(manifest: Manifest) -> list[str]:
    """Return the packed attachments whose content is not what their name, its hash, says."""
    attachments = {
        name: name.rpartition("/")[2] for name in manifest.members if name.startswith(ATTACHMENTS_FOLDER)
    }
    return [
        name
        for name, key in attachments.items()
        if SHA256.fullmatch(key) and manifest.members[name]["sha256"] != key
    ]


class ArchiveWriter:
    """Write a backup: its members, and the manifest as the last one."""

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
            self._zip.writestr(MANIFEST_FILE, json.dumps(asdict(self.manifest), indent=1))
        self._zip.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def add(self, name: str, pieces: Iterable[bytes | memoryview]) -> int:
        """Write one member. Return its number of lines."""
        digest, size, lines = hashlib.sha256(), 0, 0
        with self._zip.open(name, "w", force_zip64=True) as member:
            for piece in pieces:
                data = bytes(piece)
                member.write(data)
                digest.update(data)
                size += len(data)
                lines += data.count(b"\n")
        self.manifest.members[name] = {"bytes": size, "sha256": digest.hexdigest()}
        return lines


class Archive:
    """A backup opened for reading. Raises BackupError: when it is no backup, or of an unknown format."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except ZIP_ERRORS as error:
            raise BackupError(f"{path} cannot be read as a backup: {error}.") from None
        try:
            self.manifest = self._read_manifest()
        except (AttributeError, TypeError, *ZIP_ERRORS) as error:
            self._zip.close()
            raise BackupError(f"{path} is not a backup of this chat, or its manifest is damaged.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._zip.close()

    def _read_manifest(self) -> Manifest:
        if self._zip.getinfo(MANIFEST_FILE).file_size > MAX_MANIFEST_BYTES:
            raise ValueError("too long")
        fields = json.loads(self._zip.read(MANIFEST_FILE))
        if fields["format"] != BACKUP_FORMAT:
            raise ValueError("another format")
        manifest = Manifest(**fields)
        manifest.migrations = [(app, name) for app, name in manifest.migrations]
        if not all(map(_is_safe, manifest.members)):
            raise ValueError("a member leads out of its folder")
        if not all(map(_is_described, manifest.members.values())):
            raise ValueError("a member without its size or its sum")
        return manifest

    def verify(self, progress: BackupProgress) -> None:
        """Read the whole backup once. Raises BackupError: when a byte differs from what was written."""
        total = sum(each["bytes"] for each in self.manifest.members.values())
        done = 0
        for name in self.manifest.members:
            for piece in self.read(name):
                done += len(piece)
                progress("verifying the backup", done, total)

    def read(self, name: str) -> Iterator[bytes]:
        """Yield a member in pieces.

        Raises BackupError: when it cannot be read, or, after its last piece, when size or digest are wrong.
        """
        expected = self.manifest.members[name]
        digest, size = hashlib.sha256(), 0
        try:
            with self._zip.open(name) as member:
                while piece := member.read(BACKUP_PIECE_BYTES):
                    digest.update(piece)
                    size += len(piece)
                    yield piece
        except ZIP_ERRORS as error:
            raise BackupError(f"The backup is damaged: {name} cannot be read ({error}).") from None
        if (size, digest.hexdigest()) != (expected["bytes"], expected["sha256"]):
            raise BackupError(f"The backup is damaged: {name} is not what was written.")

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


def _is_described(member: Any) -> bool:
    return (
        isinstance(member, dict)
        and isinstance(member.get("bytes"), int)
        and isinstance(member.get("sha256"), str)
    )


def pieces_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(BACKUP_PIECE_BYTES):
            yield piece
