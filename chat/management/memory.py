"""Give free memory back to the system, which glibc keeps for the next peak.

Replies leave gaps between what stays in the heap. glibc returns only the end of the heap by itself; its
`malloc_trim` returns every free page, also those in the middle.
https://man7.org/linux/man-pages/man3/malloc_trim.3.html
"""

import ctypes

from chat.db.background import repeat

INTERVAL_SECONDS = 5.0


def trim() -> None:
    """Return the free pages of the heap: 0.6 ms for one of 40 MB. Does nothing without glibc."""
    if malloc_trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        malloc_trim(0)


async def trim_often() -> None:
    """Trim every few seconds until cancelled."""

    async def step() -> None:
        trim()

    await repeat(step, INTERVAL_SECONDS, "trim memory")
