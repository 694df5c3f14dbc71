"""An index of a table in use is a migration of its own, because it has no transaction."""

from django.db import migrations, models

from chat.db.index_operations import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("chat", "tomorrow")]

    operations = [
        AddIndexConcurrently("message", models.Index(fields=["created", "stars"], name="message_by_stars"))
    ]
