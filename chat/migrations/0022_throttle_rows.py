from django.db import migrations


def blank(apps, schema_editor):
    """Rows of failed attempts held the fields of the form, and among them new passwords in clear text."""
    attempts = apps.get_model('axes', 'AccessAttempt').objects.using(schema_editor.connection.alias)
    attempts.update(get_data='', post_data='')


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0021_session_keys'),
        ('axes', '0010_accessattemptexpiration'),
    ]

    operations = [
        migrations.RunPython(blank, migrations.RunPython.noop),
    ]
