from django.db import migrations

from chatsite.sessions import session_digest


def hash_keys(apps, schema_editor):
    """Replace each session key by its hash, under which it is found from now on: sessions stay valid."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT session_key FROM django_session")
        keys = [row[0] for row in cursor.fetchall()]
        cursor.executemany(
            "UPDATE django_session SET session_key = %s WHERE session_key = %s",
            [(session_digest(key), key) for key in keys],
        )


def end_all(apps, schema_editor):
    """A hash leads back to no key, so going back everybody has to sign in again."""
    schema_editor.execute("DELETE FROM django_session")


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0020_reading_prune'),
        ('sessions', '0001_initial'),
    ]

    operations = [
        migrations.RunPython(hash_keys, end_all),
    ]
