from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0037_shared_links'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='conversationaccess',
            options={
                'default_permissions': ('view',),
                'ordering': ['-at'],
                'verbose_name': 'conversation access',
                'verbose_name_plural': 'conversation accesses',
            },
        ),
    ]
