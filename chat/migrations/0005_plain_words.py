"""One word for each thing: chat, person, reply."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0004_doors'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='conversation',
            options={'verbose_name': 'chat', 'verbose_name_plural': 'chats'},
        ),
        migrations.AlterModelOptions(
            name='conversationaccess',
            options={'default_permissions': ('view',), 'ordering': ['-at'], 'verbose_name': 'reading', 'verbose_name_plural': 'readings'},
        ),
        migrations.AlterModelOptions(
            name='run',
            options={'verbose_name': 'reply', 'verbose_name_plural': 'replies'},
        ),
        migrations.AlterModelOptions(
            name='user',
            options={'verbose_name': 'person', 'verbose_name_plural': 'people'},
        ),
        migrations.AlterField(
            model_name='apikey',
            name='keeps_conversations',
            field=models.BooleanField(default=False, verbose_name='stores chats'),
        ),
        migrations.AlterField(
            model_name='apikey',
            name='may_export',
            field=models.BooleanField(db_default=False, default=False, verbose_name='can export chats'),
        ),
        migrations.AlterField(
            model_name='conversationaccess',
            name='kind',
            field=models.CharField(choices=[('conversation', 'Chat'), ('list', 'List')], default='conversation', editable=False, max_length=12, verbose_name='kind'),
        ),
    ]
