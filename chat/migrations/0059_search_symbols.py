"""Empty the search index. The servers build it again: it folds further letters, and knows words with symbols."""

from django.db import migrations

RESTART = "UPDATE chat_searchbuild SET finished = %s, created = NULL, conversation = NULL, next_id = %s"


def empty(apps, schema_editor):
    """Keep the ids that were given: new texts get higher ones, the build gives lower ones."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT MAX(id) FROM chat_searchdocument")
        (newest,) = cursor.fetchone()
        if newest is None:
            return
        if schema_editor.connection.vendor == "postgresql":
            cursor.execute("DELETE FROM chat_search_words")
        else:
            cursor.execute("INSERT INTO chat_search_words (chat_search_words) VALUES ('delete-all')")
        cursor.execute("DELETE FROM chat_searchdocument")
        cursor.execute(RESTART, [False, newest])


class Migration(migrations.Migration):
    dependencies = [("chat", "0058_deleted_by_time")]

    operations = [migrations.RunPython(empty, migrations.RunPython.noop)]
