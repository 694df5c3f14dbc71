from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0022_throttle_rows'),
    ]

    operations = [
        migrations.RenameField(model_name='run', old_name='text_start', new_name='text_offset'),
        migrations.RenameField(model_name='run', old_name='reasoning_start', new_name='reasoning_offset'),
        migrations.RenameField(model_name='run', old_name='because', new_name='fallback_reason'),
        migrations.RenameField(model_name='message', old_name='picked', new_name='selected_at'),
        migrations.RenameField(model_name='worker', old_name='beat', new_name='heartbeat_at'),
        migrations.RenameField(model_name='conversation', old_name='seen', new_name='last_seen'),
    ]
