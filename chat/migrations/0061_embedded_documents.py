from django.db import migrations, models
from django.db.models import Exists, OuterRef, Subquery


def mark(apps, schema_editor):
    """The documents whose passages have embeddings need no others."""
    alias = schema_editor.connection.alias
    vectors = apps.get_model('chat', 'PassageVectors').objects.using(alias)
    own = vectors.filter(file=OuterRef('file'), media_type=OuterRef('media_type'), start=0).order_by('-pk')
    attachments = apps.get_model('chat', 'Attachment').objects.using(alias)
    attachments.filter(Exists(own)).update(embedded=Subquery(own.values('model')[:1]))


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0060_import_attempts'),
    ]

    operations = [
        migrations.AddField(
            model_name='attachment',
            name='embedded',
            field=models.CharField(db_default='', default='', editable=False, max_length=200),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
