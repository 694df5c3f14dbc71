from django.db import migrations


def make(apps, schema_editor):
    """The group a staff member is put into to read everybody's conversations, with that one right.

    Django makes its permissions only after all migrations, and takes what is there already.
    """
    content_type, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(
        app_label="chat", model="conversation"
    )
    permission, _ = apps.get_model("auth", "Permission").objects.get_or_create(
        codename="view_conversation", content_type=content_type,
        defaults={"name": "Can view conversation"},
    )
    group, _ = apps.get_model("auth", "Group").objects.get_or_create(name="Reviewers")
    group.permissions.add(permission)


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0004_readings'),
        ('auth', '0012_alter_user_first_name_max_length'),
        ('contenttypes', '0002_remove_content_type_name'),
    ]

    operations = [
        migrations.RunPython(make, migrations.RunPython.noop),
    ]
