"""Backup of a site's files outside the database: the secret key, the attachments, and what stands in `media`.

Attachments in a bucket are not in a backup: `ATTACHMENTS_S3_BUCKET` says where they stay.
"""

import filecmp
import os
from contextlib import suppress
from pathlib import Path

from chat.files.files import PARTIAL

from .archive import (
    ATTACHMENTS_FOLDER,
    MEDIA,
    SECRET_KEY_FILE,
    Archive,
    ArchiveWriter,
    BackupProgress,
    pieces_of,
)

FILE_FOLDERS = (MEDIA, ATTACHMENTS_FOLDER)


def dump(folder: Path, archive: ArchiveWriter, progress: BackupProgress) -> None:
    """Pack these files of DATA_DIR. What is deleted meanwhile is left out."""
    found = [folder / SECRET_KEY_FILE]
    for name in FILE_FOLDERS:
        found += sorted((folder / name).rglob("*"))
    packed = [path for path in found if _is_whole(path)]
    for done, path in enumerate(packed):
        progress("packing files", done, len(packed))
        with suppress(FileNotFoundError), path.open("rb") as file:
            archive.add(path.relative_to(folder).as_posix(), pieces_of(file))


def _is_whole(path: Path) -> bool:
    return path.is_file() and not path.name.startswith(PARTIAL)


def unpack(archive: Archive, folder: Path) -> None:
    """Extract these files into a new folder, for `replace`."""
    for name in archive.manifest.members:
        if name == SECRET_KEY_FILE or name.startswith(FILE_FOLDERS):
            archive.extract(name, folder / name)


def replace(folder: Path, new: Path, suffix: str) -> list[Path]:
    """Move the files that `unpack` extracted to `new` into DATA_DIR.

    Return the paths, with `suffix`, under which the replaced files are kept. An identical file stays. The
    attachments that were there are moved away even if none come, because the restored database has no rows of
    them, and pruning would delete them.
    """
    kept = []
    for name in (SECRET_KEY_FILE, *(each.rstrip("/") for each in FILE_FOLDERS)):
        there, coming = folder / name, new / name
        if f"{name}/" == ATTACHMENTS_FOLDER:
            coming.mkdir(mode=0o700, exist_ok=True)
            if not there.exists() and not any(coming.iterdir()):
                continue
        is_same = there.exists() and coming.exists() and filecmp.cmp(there, coming, shallow=False)
        if not coming.exists() or is_same:
            continue
        if there.exists():
            kept.append(there.with_name(f"{name}{suffix}"))
            os.rename(there, kept[-1])
        os.rename(coming, there)
    return kept


def add_name(path: Path, name: Path) -> None:
    """Give a file another, free name. Where there are no links, such as on exFAT, it loses the first one."""
    try:
        os.link(path, name)
    except OSError:
        if name.exists():
            raise
        os.rename(path, name)
