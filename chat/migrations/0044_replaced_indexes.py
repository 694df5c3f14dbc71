import django.db.models.deletion
from django.db import migrations, models

# The index that the foreign key had by itself. Django would copy the table to drop it on SQLite.
INDEX = "chat_run_conversation_id_5adc132d"


class Migration(migrations.Migration):
    """Drop the indexes whose columns begin those of indexes of 0043."""

    dependencies = [
        ('chat', '0043_review_indexes'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='run',
            name='run_by_status',
        ),
        migrations.RemoveIndex(
            model_name='run',
            name='run_live_by_conversation',
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name='run',
                    name='conversation',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='chat.conversation'),
                ),
            ],
            database_operations=[
                migrations.RunSQL(
                    f"DROP INDEX IF EXISTS {INDEX}",
                    f"CREATE INDEX IF NOT EXISTS {INDEX} ON chat_run (conversation_id)",
                ),
            ],
        ),
    ]
