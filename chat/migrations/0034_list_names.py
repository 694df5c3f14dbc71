import django.db.models.deletion
from django.db import migrations, models

NAMES = {"conversationaccess": "conversation access", "run": "reply attempt", "worker": "server process"}


def rename_permissions(apps, schema_editor):
    """Django names a permission once, after its model at that time."""
    rows = apps.get_model("auth", "Permission").objects.using(schema_editor.connection.alias)
    for model, name in NAMES.items():
        for action in ("add", "change", "delete", "view"):
            found = rows.filter(content_type__app_label="chat", codename=f"{action}_{model}")
            found.update(name=f"Can {action} {name}")


class Migration(migrations.Migration):

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('contenttypes', '0002_remove_content_type_name'),
        ('chat', '0033_search'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='conversationaccess',
            options={
                'default_permissions': ('view',),
                'ordering': ['-at'],
                'verbose_name': 'conversation access',
                'verbose_name_plural': 'conversation access',
            },
        ),
        migrations.AlterModelOptions(
            name='run',
            options={'verbose_name': 'reply attempt', 'verbose_name_plural': 'reply attempts'},
        ),
        migrations.AlterModelOptions(
            name='worker',
            options={'verbose_name': 'server process', 'verbose_name_plural': 'server processes'},
        ),
        migrations.AlterField(
            model_name='run',
            name='worker',
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name='runs',
                to='chat.worker',
                verbose_name='server process',
            ),
        ),
        migrations.RunPython(rename_permissions, migrations.RunPython.noop),
    ]
