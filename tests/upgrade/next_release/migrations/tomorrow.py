"""Changes that a migration may make while the older version runs: new columns, and a new table."""

import pkgutil

import django.db.models.deletion
from django.db import migrations, models

import chat.migrations

MODULES = (module.name for module in pkgutil.iter_modules(chat.migrations.__path__))
LATEST = max(name for name in MODULES if name[0].isdigit())  # a copy of this release has this file, too


class Migration(migrations.Migration):
    dependencies = [("chat", LATEST)]

    operations = [
        migrations.AddField("message", "starred_at", models.DateTimeField(null=True)),
        migrations.AddField("message", "stars", models.PositiveIntegerField(db_default=0)),
        migrations.AddField("run", "place", models.CharField(max_length=20, db_default="")),
        migrations.CreateModel(
            name="Star",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                (
                    "message",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="chat.message"),
                ),
            ],
        ),
    ]
