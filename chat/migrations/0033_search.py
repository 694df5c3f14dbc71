from django.db import migrations, models

# The words of the documents. Contentless, so the texts are not stored a second time, and without the lengths of
# the documents, because they are not ranked by FTS5. Words that begin with three letters are found by an index of their
# own: without it, "the*" in a million messages took 110 ms, and with it less than one. `_` begins the tags, which no text contains.
SQLITE = """
CREATE VIRTUAL TABLE chat_search_words USING fts5(
    words, content='', columnsize=0, prefix='3', tokenize="ascii tokenchars '_'"
)
"""
SQLITE_FIRST = "INSERT INTO sqlite_sequence (name, seq) VALUES ('chat_searchdocument', 999999999)"
# Compressed from 128 bytes on and kept beside its id. The second index reads a person's newest documents.
POSTGRES = (
    "CREATE TABLE chat_search_words (id bigint PRIMARY KEY, words tsvector NOT NULL)",
    "ALTER TABLE chat_search_words SET (toast_tuple_target = 128)",
    "ALTER TABLE chat_search_words ALTER COLUMN words SET STORAGE MAIN",
    "CREATE INDEX chat_search_words_words ON chat_search_words USING gin (words)",
    "CREATE INDEX chat_searchdocument_newest ON chat_searchdocument (owner, id)",
    "SELECT setval(pg_get_serial_sequence('chat_searchdocument', 'id'), 1000000000, false)",
)


def create(apps, schema_editor):
    """Make the table of the words, and note whether older conversations wait to be indexed."""
    if schema_editor.connection.vendor == "postgresql":
        for statement in POSTGRES:
            schema_editor.execute(statement)
    else:
        schema_editor.execute(SQLITE, params=None)
        schema_editor.execute(SQLITE_FIRST)
    nothing = not apps.get_model("chat", "Conversation").objects.exists()
    apps.get_model("chat", "SearchBuild").objects.create(finished=nothing)


def drop(apps, schema_editor):
    schema_editor.execute("DROP TABLE chat_search_words")


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0032_export_keys'),
    ]

    operations = [
        migrations.CreateModel(
            name='SearchBuild',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('finished', models.BooleanField(default=False)),
                ('next_id', models.BigIntegerField(default=999999999)),
                ('created', models.DateTimeField(null=True)),
                ('conversation', models.UUIDField(null=True)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='SearchDocument',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('owner', models.BigIntegerField(editable=False)),
                ('message', models.UUIDField(editable=False, null=True)),
                ('conversation', models.UUIDField(editable=False, null=True)),
            ],
            options={
                'default_permissions': (),
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('message__isnull', False)), fields=('message',), name='search_one_message'),
                    models.UniqueConstraint(condition=models.Q(('conversation__isnull', False)), fields=('conversation',), name='search_one_conversation'),
                ],
            },
        ),
        migrations.RunPython(create, drop),
    ]
