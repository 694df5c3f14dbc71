from django.db import migrations, models

from chat.index_operations import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chat', '0042_conversations_of_feedback'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='feedback',
            index=models.Index(fields=['conversation', 'up'], name='feedback_by_conversation'),
        ),
        AddIndexConcurrently(
            model_name='feedback',
            index=models.Index(fields=['up', 'conversation'], name='feedback_by_thumb'),
        ),
        AddIndexConcurrently(
            model_name='run',
            index=models.Index(fields=['status', 'created', 'conversation', 'id'], name='run_by_state'),
        ),
        AddIndexConcurrently(
            model_name='run',
            index=models.Index(fields=['conversation', 'created', 'id'], name='run_latest'),
        ),
        AddIndexConcurrently(
            model_name='run',
            index=models.Index(condition=models.Q(('worker__isnull', False)), fields=['conversation', 'status'], name='run_live_by_conversation_state'),
        ),
    ]
