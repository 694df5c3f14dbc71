
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0007_offered_models'),
    ]

    operations = [
        migrations.AddField(
            model_name='conversation',
            name='parameters',
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
        migrations.AddField(
            model_name='run',
            name='parameters',
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
    ]
