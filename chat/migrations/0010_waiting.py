"""Runs that wait until the person has allowed calls of tools."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0009_web_search_defaults'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='run',
            name='run_one_live_per_conversation',
        ),
        migrations.RemoveConstraint(
            model_name='run',
            name='run_status',
        ),
        migrations.RemoveConstraint(
            model_name='run',
            name='run_live_has_worker_ended_has_time',
        ),
        migrations.RemoveIndex(
            model_name='run',
            name='run_live_by_conversation_state',
        ),
        migrations.AddField(
            model_name='conversation',
            name='allowed_calls',
            field=models.JSONField(blank=True, db_default=[], default=list, editable=False),
        ),
        migrations.AddField(
            model_name='run',
            name='suspended',
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='waited_seconds',
            field=models.FloatField(db_default=0.0, default=0.0, editable=False),
        ),
        migrations.AddField(
            model_name='step',
            name='answer',
            field=models.CharField(blank=True, choices=[('once', 'Once'), ('conversation', 'Conversation'), ('declined', 'Declined')], db_default='', default='', max_length=12),
        ),
        migrations.AddField(
            model_name='step',
            name='permission',
            field=models.CharField(blank=True, db_default='', default='', max_length=300),
        ),
        migrations.AlterField(
            model_name='run',
            name='status',
            field=models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('waiting', 'Waiting for an answer'), ('complete', 'Complete'), ('stopped', 'Stopped'), ('interrupted', 'Interrupted'), ('truncated', 'Truncated'), ('failed', 'Failed')], max_length=11, verbose_name='status'),
        ),
        migrations.AlterField(
            model_name='step',
            name='state',
            field=models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('stopped', 'Stopped')], default='running', max_length=7),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ('queued', 'running', 'waiting'))), fields=('conversation',), name='run_one_live_per_conversation'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ('queued', 'running', 'waiting', 'complete', 'stopped', 'interrupted', 'truncated', 'failed'))), name='run_status'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('finished', None), ('status__in', ('queued', 'running')), ('worker__isnull', False)), models.Q(('finished', None), ('status', 'waiting'), ('worker', None)), models.Q(('finished__isnull', False), ('status__in', ('complete', 'stopped', 'interrupted', 'truncated', 'failed'))), _connector='OR'), name='run_live_has_worker_ended_has_time'),
        ),
    ]
