"""The storage of attachments on this machine: a file appears whole, and only its user can read it."""

import os
import secrets
import tempfile
from pathlib import Path
from typing import Any

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage

from chat.files.files import PARTIAL


class AttachmentStorage(FileSystemStorage):
    """Write a file under a temporary name, then rename it: a name is the hash of a whole file."""

    def __init__(self, **options: Any) -> None:
        options = {"file_permissions_mode": 0o600, "directory_permissions_mode": 0o700} | options
        super().__init__(**options, allow_overwrite=True)

    def _save(self, name: str, content: "File[bytes]") -> str:
        path = Path(self.path(name))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, partial = tempfile.mkstemp(prefix=PARTIAL, dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                for chunk in content.chunks():
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            _make_room(path)
            os.replace(partial, path)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
        return name

    def delete(self, name: str) -> None:
        """Delete the file. A folder in its place is no stored file, and stays."""
        if not Path(self.path(name)).is_dir():
            super().delete(name)


def _make_room(path: Path) -> None:
    """Rename a folder that stands in place of the file, after damage from outside."""
    if path.is_dir():
        path.rename(path.with_name(f"{path.name}.damaged-{secrets.token_hex(4)}"))
