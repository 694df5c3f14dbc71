"""Damaged journals: files with text of runs that could not be stored, which no process reads again."""

from datetime import datetime
from pathlib import Path

from django.conf import settings

from chat.ownership.journal import DAMAGED_SUFFIX

from .batches import Stop


def damaged(before: datetime) -> list[Path]:
    """Return the paths of damaged journals that were last written before that time."""
    folder = Path(settings.DATA_DIR) / "workers"
    return [path for path in folder.glob(f"*{DAMAGED_SUFFIX}") if path.stat().st_mtime < before.timestamp()]


def delete_damaged(before: datetime, stop: Stop) -> int:
    """Delete the journals that `damaged` returns, until `stop()`. Return their number. Raises OSError."""
    deleted = 0
    for path in damaged(before):
        if not stop():
            path.unlink(missing_ok=True)
            deleted += 1
    return deleted
