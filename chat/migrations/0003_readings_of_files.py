"""Tables for the readers of files and of imports, and an index of words with symbols, which the servers build."""

from django.db import migrations, models
from django.db.models import Exists, OuterRef, Subquery

RESTART = "UPDATE chat_searchbuild SET finished = %s, created = NULL, conversation = NULL, next_id = %s"


def empty_index(apps, schema_editor):
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


def mark_embedded(apps, schema_editor):
    """The documents whose passages have embeddings need no others."""
    alias = schema_editor.connection.alias
    vectors = apps.get_model('chat', 'PassageVectors').objects.using(alias)
    own = vectors.filter(file=OuterRef('file'), media_type=OuterRef('media_type'), start=0).order_by('-pk')
    attachments = apps.get_model('chat', 'Attachment').objects.using(alias)
    attachments.filter(Exists(own)).update(embedded=Subquery(own.values('model')[:1]))


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0002_sql'),
    ]

    operations = [
        migrations.AddField(
            model_name='importjob',
            name='attempts',
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='attachment',
            name='embedded',
            field=models.CharField(db_default='', default='', editable=False, max_length=200),
        ),
        migrations.AddField(
            model_name='attachment',
            name='pages_without_text',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.RemoveConstraint(
            model_name='documentpage',
            name='document_page_number',
        ),
        migrations.RemoveConstraint(
            model_name='passagevectors',
            name='passage_vectors',
        ),
        migrations.AddField(
            model_name='attachment',
            name='reading',
            field=models.CharField(db_default='', default='', editable=False, max_length=16),
        ),
        migrations.AddField(
            model_name='documentpage',
            name='reading',
            field=models.CharField(db_default='', default='', max_length=16),
        ),
        migrations.AddField(
            model_name='passagevectors',
            name='reading',
            field=models.CharField(db_default='', default='', max_length=16),
        ),
        migrations.AddConstraint(
            model_name='documentpage',
            constraint=models.UniqueConstraint(fields=('file', 'media_type', 'reading', 'number'), name='document_page_number'),
        ),
        migrations.AddConstraint(
            model_name='passagevectors',
            constraint=models.UniqueConstraint(fields=('file', 'media_type', 'reading', 'model', 'start'), name='passage_vectors'),
        ),
        migrations.AddField(
            model_name='sitemodel',
            name='limits_observed',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.RunPython(mark_embedded, migrations.RunPython.noop),
        migrations.RunPython(empty_index, migrations.RunPython.noop),
    ]
