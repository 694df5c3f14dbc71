
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0009_gateway'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='answered_by',
            field=models.CharField(blank=True, default='', max_length=200, verbose_name='answered by'),
        ),
        migrations.AddField(
            model_name='run',
            name='because',
            field=models.CharField(blank=True, default='', max_length=40),
        ),
        migrations.AddField(
            model_name='run',
            name='retry_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['created'], name='run_by_created'),
        ),
    ]
