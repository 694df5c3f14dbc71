from django.db import migrations

CODENAME = 'publish_prompt'


def rename(apps, schema_editor):
    permissions = apps.get_model('auth', 'Permission').objects.using(schema_editor.connection.alias)
    permissions.filter(codename=CODENAME, content_type__app_label='chat').update(name='Can publish prompts')


class Migration(migrations.Migration):
    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('chat', '0055_file_deletions'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='prompt',
            options={
                'default_permissions': (),
                'permissions': [(CODENAME, 'Can publish prompts')],
                'verbose_name': 'prompt',
                'verbose_name_plural': 'prompts',
            },
        ),
        migrations.RunPython(rename, migrations.RunPython.noop),
    ]
