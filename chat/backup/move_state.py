"""The record of a move, in the database that is being filled: it is there until the move has ended.

While it is there, no server starts, because the database is not whole and its references are not checked.
"""

from pathlib import Path
from typing import Any

MOVE = "chat_move"
UNFINISHED = (
    "The database is the target of a move that has not ended. Run the same `manage.py move` again to go on, "
    "or use another database."
)


def is_unfinished(connection: Any) -> bool:
    """Return True if a move into this database has not ended. Raises DatabaseError."""
    if connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).exists():
        return False  # to ask would create the file
    with connection.cursor() as cursor:
        return MOVE in connection.introspection.table_names(cursor)
