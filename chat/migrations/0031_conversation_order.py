import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0030_favourite_models'),
    ]

    operations = [
        migrations.CreateModel(
            name='Tag',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=40)),
                ('folded', models.CharField(editable=False, max_length=120)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tags', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'tag',
                'verbose_name_plural': 'tags',
                'default_permissions': (),
                'constraints': [
                    models.UniqueConstraint(fields=('user', 'folded'), name='tag_once_per_person'),
                    models.CheckConstraint(condition=models.Q(('folded', ''), _negated=True), name='tag_has_name'),
                ],
            },
        ),
        migrations.AddField(
            model_name='conversation',
            name='archived_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='archived'),
        ),
        migrations.AddField(
            model_name='conversation',
            name='pinned_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='pinned'),
        ),
        migrations.AddField(
            model_name='conversation',
            name='temporary',
            field=models.BooleanField(db_default=False, default=False, verbose_name='temporary'),
        ),
        migrations.AddField(
            model_name='message',
            name='deleted',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('deleted__isnull', False)), fields=['deleted'], name='message_deleted'),
        ),
        migrations.AddField(
            model_name='conversation',
            name='tags',
            field=models.ManyToManyField(blank=True, related_name='conversations', to='chat.tag'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('archived_at', None), ('deleted', None), ('temporary', False)), fields=['user', '-updated'], name='conversation_listed'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('deleted', None), ('pinned_at__isnull', False)), fields=['user', '-pinned_at'], name='conversation_pinned'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('archived_at__isnull', False), ('deleted', None)), fields=['user', '-archived_at'], name='conversation_archived'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('deleted__isnull', False), ('temporary', False)), fields=['user', '-deleted'], name='conversation_deleted'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('temporary', True)), fields=['updated'], name='conversation_temporary'),
        ),
    ]
