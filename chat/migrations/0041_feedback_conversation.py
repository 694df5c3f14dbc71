from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0040_list_indexes'),
    ]

    operations = [
        migrations.AddField(
            model_name='feedback',
            name='conversation',
            field=models.UUIDField(editable=False, null=True),
        ),
    ]
