from django.db import migrations, models

from chat.index_operations import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chat', '0056_publish_prompts'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='sharedlink',
            index=models.Index(fields=['created', 'id'], name='shared_link_by_created'),
        ),
    ]
