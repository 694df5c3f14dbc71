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
# What opens again, compared with the tables before the restore: a sentence, and those whom it names.
OPENED = {
    "These people have an older password again, or are no longer disabled": """
        SELECT new.username FROM chat_user new JOIN {former}.chat_user old ON old.id = new.id
        WHERE new.password <> old.password OR new.is_active AND NOT old.is_active ORDER BY new.username""",
    "These people, who were deleted, are here again": """
        SELECT new.username FROM chat_user new WHERE NOT EXISTS (
            SELECT 1 FROM {former}.chat_user old WHERE old.id = new.id) ORDER BY new.username""",
    "These people have rights again that were taken from them": """
        SELECT new.username FROM chat_user new JOIN {former}.chat_user old ON old.id = new.id
        WHERE new.is_staff AND NOT old.is_staff OR new.is_superuser AND NOT old.is_superuser
        OR EXISTS (SELECT 1 FROM chat_user_groups held WHERE held.user_id = new.id AND NOT EXISTS (
            SELECT 1 FROM {former}.chat_user_groups kept
            WHERE kept.user_id = held.user_id AND kept.group_id = held.group_id))
        OR EXISTS (SELECT 1 FROM chat_user_user_permissions held WHERE held.user_id = new.id AND NOT EXISTS (
            SELECT 1 FROM {former}.chat_user_user_permissions kept
            WHERE kept.user_id = held.user_id AND kept.permission_id = held.permission_id))
        ORDER BY new.username""",
    "These API keys, which were revoked, deleted or limited, are valid again as they were": """
        SELECT new.prefix || '… of ' || who.username FROM chat_apikey new
        JOIN chat_user who ON who.id = new.user_id LEFT JOIN {former}.chat_apikey old ON old.id = new.id
        WHERE new.revoked IS NULL AND (old.id IS NULL OR old.revoked IS NOT NULL
            OR new.may_set_gateway AND NOT old.may_set_gateway) ORDER BY who.username, new.prefix""",
}


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


def opened(run: Run, former: str) -> list[str]:
    """Return sentences that name what opens accounts again, compared with the schema `former`."""
    found = {
        sentence: [name for (name,) in run(query.format(former=former))] for sentence, query in OPENED.items()
    }
    return [f"{sentence}: {', '.join(names)}." for sentence, names in found.items() if names]
