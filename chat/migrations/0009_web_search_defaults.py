"""The search of the web with which new chats begin, by person and by assistant."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0008_steps'),
    ]

    operations = [
        migrations.AddField(
            model_name='assistantversion',
            name='web_search',
            field=models.BooleanField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='preferences',
            name='web_search',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
