from django.db import migrations, models

from chat.index_operations import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chat', '0049_assistants'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='conversation',
            index=models.Index(condition=models.Q(('assistant_version__isnull', False)), fields=['assistant_version'], name='conversation_by_assistant'),
        ),
    ]
