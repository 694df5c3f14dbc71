from django.db import migrations, models

from chat.index_operations import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chat', '0057_shared_link_index'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='conversation',
            index=models.Index(condition=models.Q(('deleted__isnull', False)), fields=['updated', 'id'], name='conversation_deleted_by_time'),
        ),
        AddIndexConcurrently(
            model_name='conversation',
            index=models.Index(condition=models.Q(('deleted__isnull', False)), fields=['model', 'updated', 'id'], name='conversation_deleted_by_model'),
        ),
    ]
