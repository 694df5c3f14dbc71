"""Backup of a site's files outside the database: the secret key and the attachments."""

import os
import shutil
from pathlib import Path

from .archive import MEDIA, SECRET_KEY, Archive, ArchiveWriter, Progress, pieces_of


def dump(folder: Path, archive: ArchiveWriter, progress: Progress) -> None:
    """Pack the secret key and the attachments of DATA_DIR. Attachments deleted meanwhile are left out."""
    key = folder / SECRET_KEY
    if key.is_file():
        archive.add(SECRET_KEY, pieces_of(key))
    media = sorted(path for path in (folder / "media").rglob("*") if path.is_file())
    for done, path in enumerate(media):
        progress("packing files", done, len(media))
        if path.exists():
            archive.add(f"{MEDIA}{path.relative_to(folder / 'media').as_posix()}", pieces_of(path))


def unpack(archive: Archive, folder: Path) -> None:
    """Extract the secret key and the attachments into a new folder, for `replace`."""
    for name in archive.manifest.members:
        if name == SECRET_KEY or name.startswith(MEDIA):
            archive.extract(name, folder / name)


def replace(folder: Path, new: Path, suffix: str) -> list[Path]:
    """Move the files that `unpack` extracted to `new` into DATA_DIR.

    Return the paths, with `suffix`, under which the replaced files are kept. An identical file stays.
    """
    kept = []
    for name in (SECRET_KEY, MEDIA.rstrip("/")):
        there, coming = folder / name, new / name
        if not coming.exists() or _is_same(there, coming):
            continue
        if there.exists():
            kept.append(there.with_name(f"{name}{suffix}"))
            os.rename(there, kept[-1])
        os.rename(coming, there)
    return kept


def _is_same(one: Path, other: Path) -> bool:
    return one.is_file() and other.is_file() and one.read_bytes() == other.read_bytes()


def discard(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
