"""Journals that could not be stored: files that hold what people wrote, and that nobody reads again."""

from datetime import datetime
from pathlib import Path

from django.conf import settings

from chat.ownership.journal import DAMAGED_SUFFIX

from .batches import Stop


def damaged(before: datetime) -> list[Path]:
    """Those that were last written before that moment."""
    folder = Path(settings.DATA_DIR) / "workers"
    return [path for path in folder.glob(f"*{DAMAGED_SUFFIX}") if path.stat().st_mtime < before.timestamp()]


def delete_damaged(before: datetime, stop: Stop) -> int:
    """Returns how many went. Raises OSError."""
    deleted = 0
    for path in damaged(before):
        if not stop():
            path.unlink(missing_ok=True)
            deleted += 1
    return deleted
