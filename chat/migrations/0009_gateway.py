from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0008_parameters'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='gateway',
            field=models.CharField(blank=True, default='', max_length=64, verbose_name='gateway'),
        ),
        migrations.AddField(
            model_name='run',
            name='gateway_log',
            field=models.CharField(blank=True, default='', max_length=64),
        ),
        migrations.AddField(
            model_name='run',
            name='gateway_cached',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='run',
            name='gateway_step',
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
    ]
