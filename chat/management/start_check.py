"""Check of the database before the site starts, for servers that do not start by `manage.py serve`."""

from django.core.management.base import CommandError
from django.db import DatabaseError, connection

from chat.management import migrations
from chat.management.commands.migrate import require_sound
from chat.redaction import redact


def problem() -> str:
    """Return why the site cannot start on its database, as `manage.py serve` says it; "" if it can.

    It is unreachable or damaged, lacks migrations, or is the target of a move that has not ended.
    """
    try:
        require_sound(connection)
        return migrations.MISSING_TABLES if migrations.are_missing() else ""
    except CommandError as error:
        return str(error)
    except DatabaseError as error:
        return f"The database of DATABASE_URL cannot be used: {redact(str(error))}"
    finally:
        connection.close()
