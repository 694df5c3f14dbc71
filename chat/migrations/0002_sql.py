"""Parts of the schema that only SQL can say: the triggers that protect the access log, and the words of the search index."""

from django.db import migrations

from chat.migrations._replaced import REPLACED

# The access log is never changed, and its rows are deleted only by pruning: with a permit, which is a row that is
# never committed, and when they are older than 90 days; the owners of a list, only after its row. On SQLite a trigger
# goes with its table: a later migration that makes one anew (as altering a column does there) has to call `protect`
# again. INSERT OR REPLACE deletes without a DELETE trigger, so it is refused over an existing row.
ACCESS, OWNER = "chat_conversationaccess", "chat_conversationaccessowner"
SQLITE_EVENTS = {
    "update": "BEFORE UPDATE ON {table}",
    "replace": "BEFORE INSERT ON {table} WHEN EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id)",
}
SQLITE_DELETE = {
    ACCESS: """BEFORE DELETE ON {table} WHEN NOT COALESCE(
        OLD.at < (SELECT MAX(before) FROM chat_conversationaccessprune)
        AND OLD.at < STRFTIME('%Y-%m-%d %H:%M:%f', 'now', '-90 days'), 0)""",
    OWNER: """BEFORE DELETE ON {table} WHEN
        NOT EXISTS (SELECT 1 FROM chat_conversationaccessprune)
        OR EXISTS (SELECT 1 FROM chat_conversationaccess WHERE id = OLD.access_id)""",
}
SQLITE_TRIGGER = (
    "CREATE TRIGGER {table}_no_{name} {when} BEGIN SELECT RAISE(ABORT, 'a reading is never changed'); END"
)
POSTGRES_FUNCTION = """
CREATE FUNCTION chat_conversationaccess_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        IF NOT EXISTS (SELECT 1 FROM chat_conversationaccess) THEN
            RETURN NULL;
        END IF;
    ELSIF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'chat_conversationaccess' THEN
        IF OLD.at < (SELECT MAX(before) FROM chat_conversationaccessprune) AND OLD.at < now() - interval '90 days' THEN
            RETURN OLD;
        END IF;
    ELSIF TG_OP = 'DELETE' AND EXISTS (SELECT 1 FROM chat_conversationaccessprune) THEN
        IF NOT EXISTS (SELECT 1 FROM chat_conversationaccess WHERE id = OLD.access_id) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'a reading is never changed' USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""
POSTGRES_TRIGGERS = """
CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION chat_conversationaccess_stays();
CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION chat_conversationaccess_stays();
"""

# The words of the documents. Contentless, so the texts are not stored a second time, and without the lengths of
# the documents, because they are not ranked by FTS5. Words that begin with three letters are found by an index of their
# own: without it, "the*" in a million messages took 110 ms, and with it less than one. `_` begins the tags, which no
# text contains.
SQLITE_WORDS = """
CREATE VIRTUAL TABLE chat_search_words USING fts5(
    words, content='', columnsize=0, prefix='3', tokenize="ascii tokenchars '_'"
)
"""
SQLITE_FIRST = "INSERT INTO sqlite_sequence (name, seq) VALUES ('chat_searchdocument', 999999999)"
# Compressed from 128 bytes on and kept beside its id. The second index reads a person's newest documents.
POSTGRES_WORDS = (
    "CREATE TABLE chat_search_words (id bigint PRIMARY KEY, words tsvector NOT NULL)",
    "ALTER TABLE chat_search_words SET (toast_tuple_target = 128)",
    "ALTER TABLE chat_search_words ALTER COLUMN words SET STORAGE MAIN",
    "CREATE INDEX chat_search_words_words ON chat_search_words USING gin (words)",
    "CREATE INDEX chat_searchdocument_newest ON chat_searchdocument (owner, id)",
    "SELECT setval(pg_get_serial_sequence('chat_searchdocument', 'id'), 1000000000, false)",
)


def protect(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRES_FUNCTION, params=None)
        for table in (ACCESS, OWNER):
            schema_editor.execute(POSTGRES_TRIGGERS.format(table=table), params=None)
        return
    for table, delete in SQLITE_DELETE.items():
        for name, event in (SQLITE_EVENTS | {"delete": delete}).items():
            when = event.format(table=table)
            schema_editor.execute(SQLITE_TRIGGER.format(table=table, name=name, when=when), params=None)


def make_index(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for statement in POSTGRES_WORDS:
            schema_editor.execute(statement)
    else:
        schema_editor.execute(SQLITE_WORDS, params=None)
        schema_editor.execute(SQLITE_FIRST)
    apps.get_model("chat", "SearchBuild").objects.create(finished=True)


def make_group(apps, schema_editor):
    """The group a staff member is put into to read everybody's conversations, with that one right.

    Django makes its permissions only after all migrations, and takes what is there already.
    """
    content_type, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(
        app_label="chat", model="conversation"
    )
    permission, _ = apps.get_model("auth", "Permission").objects.get_or_create(
        codename="view_conversation", content_type=content_type,
        defaults={"name": "Can view conversation"},
    )
    group, _ = apps.get_model("auth", "Group").objects.get_or_create(name="Reviewers")
    group.permissions.add(permission)


class Migration(migrations.Migration):

    replaces = [('chat', REPLACED[-1])]
    dependencies = [
        ('chat', '0001_schema'),
        ('auth', '0012_alter_user_first_name_max_length'),
        ('contenttypes', '0002_remove_content_type_name'),
    ]

    operations = [
        migrations.RunPython(protect),
        migrations.RunPython(make_index),
        migrations.RunPython(make_group),
    ]
