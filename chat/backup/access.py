"""Ways into a site that a restore must not open again: those that were closed after the backup was made."""

from collections.abc import Callable, Iterable
from typing import Any

Run = Callable[[str], Iterable[tuple[Any, ...]]]
"""Runs a statement on the restored tables, and returns its rows."""

# Tables, and the condition of the rows that let somebody in without a password.
OPEN_ACCESS = {
    "django_session": ("sessions", "TRUE"),
    "chat_invite": ("open invitations", "used IS NULL"),
    "chat_sharedlink": ("shared links", "TRUE"),
}
OLDER_PASSWORDS = """
SELECT new.username FROM chat_user new JOIN {former}.chat_user old ON old.id = new.id
WHERE new.password <> old.password OR new.is_active AND NOT old.is_active ORDER BY new.username
"""
OLDER_KEYS = """
SELECT new.prefix, who.username FROM chat_apikey new JOIN chat_user who ON who.id = new.user_id
LEFT JOIN {former}.chat_apikey old ON old.id = new.id
WHERE new.revoked IS NULL AND (old.id IS NULL OR old.revoked IS NOT NULL) ORDER BY who.username, new.prefix
"""


def close(run: Run, tables: Iterable[str]) -> list[str]:
    """Delete the sessions and the open links from the restored `tables`. Return sentences that say so."""
    removed = []
    for table in OPEN_ACCESS.keys() & set(tables):
        what, condition = OPEN_ACCESS[table]
        (count,) = next(iter(run(f"SELECT COUNT(*) FROM {table} WHERE {condition}")))  # noqa: S608
        run(f"DELETE FROM {table} WHERE {condition}")  # noqa: S608
        removed += [f"{count} {what}"] if count else []
    if not removed:
        return []
    return [f"Removed, because they may have been ended since the backup: {', '.join(sorted(removed))}."]


def older(run: Run, former: str) -> list[str]:
    """Return sentences that name what opens accounts again, compared with the schema `former`."""
    passwords = [name for (name,) in run(OLDER_PASSWORDS.format(former=former))]
    keys = [f"{prefix}… of {name}" for prefix, name in run(OLDER_KEYS.format(former=former))]
    sentences = []
    if passwords:
        sentences.append(
            "These people have an older password again, or are no longer disabled: " + ", ".join(passwords)
        )
    if keys:
        sentences.append("These API keys, which were revoked or deleted, are valid again: " + ", ".join(keys))
    return [f"{each}." for each in sentences]
