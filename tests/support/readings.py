"""The end of readings that a test has made in a database that it shares: they cannot be deleted otherwise."""

from django.db import connection


def forget_readings() -> None:
    """Delete all readings, past the triggers that refuse it."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            for name in ("chat_conversationaccess_no_delete", "chat_conversationaccessowner_no_delete"):
                sql = cursor.execute("SELECT sql FROM sqlite_schema WHERE name = %s", [name]).fetchone()[0]
                cursor.execute(f"DROP TRIGGER {name}")
                cursor.execute(f"DELETE FROM {name.removesuffix('_no_delete')}")
                cursor.execute(sql)
        else:
            cursor.execute("SET session_replication_role = replica")
            cursor.execute("DELETE FROM chat_conversationaccess")
            cursor.execute("DELETE FROM chat_conversationaccessowner")
            cursor.execute("SET session_replication_role = DEFAULT")
