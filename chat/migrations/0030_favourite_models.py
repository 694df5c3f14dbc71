from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0029_words'),
    ]

    operations = [
        migrations.AddField(
            model_name='preferences',
            name='favourites',
            field=models.JSONField(blank=True, db_default=[], default=list),
        ),
    ]
