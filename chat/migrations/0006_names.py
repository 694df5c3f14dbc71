
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0005_reviewers'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='conversation',
            options={'verbose_name': 'conversation', 'verbose_name_plural': 'conversations'},
        ),
        migrations.AlterModelOptions(
            name='feedback',
            options={'verbose_name': 'feedback', 'verbose_name_plural': 'feedback'},
        ),
        migrations.AlterModelOptions(
            name='invite',
            options={'verbose_name': 'invitation', 'verbose_name_plural': 'invitations'},
        ),
        migrations.AlterModelOptions(
            name='message',
            options={'verbose_name': 'message', 'verbose_name_plural': 'messages'},
        ),
        migrations.AlterModelOptions(
            name='reading',
            options={'default_permissions': ('view',), 'ordering': ['-at'], 'verbose_name': 'reading', 'verbose_name_plural': 'readings'},
        ),
        migrations.AlterModelOptions(
            name='run',
            options={'verbose_name': 'run', 'verbose_name_plural': 'runs'},
        ),
        migrations.AlterModelOptions(
            name='worker',
            options={'verbose_name': 'worker', 'verbose_name_plural': 'workers'},
        ),
        migrations.AlterField(
            model_name='conversation',
            name='updated',
            field=models.DateTimeField(default=django.utils.timezone.now, verbose_name='updated'),
        ),
        migrations.AlterField(
            model_name='invite',
            name='made_by',
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='made by'),
        ),
        migrations.AlterField(
            model_name='reading',
            name='address',
            field=models.GenericIPAddressField(editable=False, null=True, verbose_name='address'),
        ),
        migrations.AlterField(
            model_name='reading',
            name='owner',
            field=models.CharField(editable=False, max_length=150, verbose_name='owner'),
        ),
        migrations.AlterField(
            model_name='reading',
            name='reader',
            field=models.CharField(editable=False, max_length=150, verbose_name='reader'),
        ),
        migrations.AlterField(
            model_name='run',
            name='created',
            field=models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created'),
        ),
        migrations.AlterField(
            model_name='run',
            name='error_code',
            field=models.CharField(blank=True, default='', max_length=40, verbose_name='error code'),
        ),
        migrations.AlterField(
            model_name='run',
            name='model',
            field=models.CharField(max_length=200, verbose_name='model'),
        ),
        migrations.AlterField(
            model_name='run',
            name='request_id',
            field=models.CharField(blank=True, default='', max_length=100, verbose_name='request id'),
        ),
        migrations.AlterField(
            model_name='run',
            name='status',
            field=models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('complete', 'Complete'), ('stopped', 'Stopped'), ('interrupted', 'Interrupted'), ('truncated', 'Truncated'), ('failed', 'Failed')], max_length=11, verbose_name='status'),
        ),
        migrations.AlterField(
            model_name='run',
            name='worker',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='runs', to='chat.worker', verbose_name='worker'),
        ),
    ]
