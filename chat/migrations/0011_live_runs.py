"""The index of live runs, which has those that wait, too."""

from django.db import migrations, models

from chat.db.index_operations import AddIndexConcurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('chat', '0010_waiting'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='run',
            index=models.Index(condition=models.Q(('finished__isnull', True)), fields=['conversation', 'status'], name='run_live_by_conversation'),
        ),
    ]
