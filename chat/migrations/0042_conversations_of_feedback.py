from django.db import migrations
from django.db.models import OuterRef, Subquery


def fill(apps, schema_editor):
    """Locks the rows of the feedback and nothing else."""
    owner = apps.get_model("chat", "Message").objects.filter(pk=OuterRef("message")).values("conversation")
    apps.get_model("chat", "Feedback").objects.filter(conversation=None).update(conversation=Subquery(owner))


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0041_feedback_conversation'),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]
