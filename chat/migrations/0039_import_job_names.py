from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("chat", "0038_conversation_accesses")]

    operations = [
        migrations.RenameField("importjob", "found", "preview"),
        migrations.RenameField("importjob", "done", "processed"),
    ]
