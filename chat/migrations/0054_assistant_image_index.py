from django.db import migrations, models

from chat.index_operations import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chat', '0053_assistant_images'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='assistantversion',
            index=models.Index(condition=models.Q(('image__isnull', False)), fields=['image'], name='assistant_version_by_image'),
        ),
    ]
