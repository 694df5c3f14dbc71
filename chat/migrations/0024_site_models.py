from django.db import migrations, models
from django.db.models import Q

# The access log is never changed, and its rows are deleted only by pruning: with a permit, which is a row that is
# never committed, and when they are older than 90 days; the owners of a list, only after its row. On SQLite a trigger
# goes with its table: a later migration that makes one anew (as altering a column does there) has to call
# `protect(NEW)` again. INSERT OR REPLACE deletes without a DELETE trigger, so it is refused over an existing row.
OLD = {
    "access": "chat_reading", "owner": "chat_readingowner", "prune": "chat_readingprune", "key": "reading_id",
}
NEW = {
    "access": "chat_conversationaccess",
    "owner": "chat_conversationaccessowner",
    "prune": "chat_conversationaccessprune",
    "key": "access_id",
}
SQLITE_EVENTS = {
    "update": "BEFORE UPDATE ON {table}",
    "replace": "BEFORE INSERT ON {table} WHEN EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id)",
}
SQLITE_DELETE = {
    "access": """BEFORE DELETE ON {table} WHEN NOT COALESCE(
        OLD.at < (SELECT MAX(before) FROM {prune})
        AND OLD.at < STRFTIME('%Y-%m-%d %H:%M:%f', 'now', '-90 days'), 0)""",
    "owner": """BEFORE DELETE ON {table} WHEN
        NOT EXISTS (SELECT 1 FROM {prune}) OR EXISTS (SELECT 1 FROM {access} WHERE id = OLD.{key})""",
}
SQLITE = "CREATE TRIGGER {table}_no_{name} {when} BEGIN SELECT RAISE(ABORT, 'a reading is never changed'); END"
POSTGRES_FUNCTION = """
CREATE FUNCTION {access}_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        IF NOT EXISTS (SELECT 1 FROM {access}) THEN
            RETURN NULL;
        END IF;
    ELSIF TG_OP = 'DELETE' AND TG_TABLE_NAME = '{access}' THEN
        IF OLD.at < (SELECT MAX(before) FROM {prune}) AND OLD.at < now() - interval '90 days' THEN
            RETURN OLD;
        END IF;
    ELSIF TG_OP = 'DELETE' AND EXISTS (SELECT 1 FROM {prune}) THEN
        IF NOT EXISTS (SELECT 1 FROM {access} WHERE id = OLD.{key}) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'a reading is never changed' USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""
POSTGRES_TRIGGERS = """
CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION {access}_stays();
CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION {access}_stays();
"""

# Programs and groups hold on to permissions, and Django does not rename those of a renamed model.
MODELS = {"offeredmodel": "sitemodel", "reading": "conversationaccess"}
PERMISSIONS = ("view", "change")


def protect(names):
    def run(apps, schema_editor):
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(POSTGRES_FUNCTION.format(**names), params=None)
            for role in ("access", "owner"):
                schema_editor.execute(POSTGRES_TRIGGERS.format(table=names[role], **names), params=None)
        elif schema_editor.connection.vendor == "sqlite":
            for role, delete in SQLITE_DELETE.items():
                table = names[role]
                for name, event in (SQLITE_EVENTS | {"delete": delete}).items():
                    when = event.format(table=table, **names)
                    schema_editor.execute(SQLITE.format(table=table, name=name, when=when), params=None)

    return run


def release(names):
    def run(apps, schema_editor):
        if schema_editor.connection.vendor == "postgresql":
            for role in ("access", "owner"):
                for name in ("change", "truncate"):
                    table = names[role]
                    schema_editor.execute(f"DROP TRIGGER {table}_no_{name} ON {table}", params=None)
            schema_editor.execute(f"DROP FUNCTION {names['access']}_stays()", params=None)
        elif schema_editor.connection.vendor == "sqlite":
            for role in SQLITE_DELETE:
                for name in (*SQLITE_EVENTS, "delete"):
                    schema_editor.execute(f"DROP TRIGGER {names[role]}_no_{name}", params=None)

    return run


def rename_permissions(models_):
    def run(apps, schema_editor):
        rows = apps.get_model("auth", "Permission").objects.using(schema_editor.connection.alias)
        for old, new in models_.items():
            for action in PERMISSIONS:
                found = rows.filter(content_type__app_label="chat", codename=f"{action}_{old}")
                found.update(codename=f"{action}_{new}")

    return run


class Migration(migrations.Migration):

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('contenttypes', '0002_remove_content_type_name'),
        ('chat', '0023_field_names'),
    ]

    operations = [
        migrations.RunPython(release(OLD), protect(OLD)),
        migrations.RenameModel('Reading', 'ConversationAccess'),
        migrations.RenameModel('ReadingOwner', 'ConversationAccessOwner'),
        migrations.RenameModel('ReadingPrune', 'ConversationAccessPrune'),
        migrations.RenameIndex('ConversationAccess', new_name='access_by_owner', old_name='reading_by_owner'),
        migrations.RemoveIndex('ConversationAccessOwner', 'reading_owner_newest'),
        migrations.RenameField('ConversationAccessOwner', 'reading', 'access'),
        migrations.AddIndex(
            'ConversationAccessOwner', models.Index(fields=['owner_key', '-access'], name='access_owner_newest')
        ),
        migrations.RunPython(protect(NEW), release(NEW)),

        migrations.RemoveConstraint('ModelList', 'model_list_only_one'),
        migrations.RenameModel('ModelList', 'CatalogState'),
        migrations.AddConstraint(
            'CatalogState', models.CheckConstraint(condition=Q(id=1), name='catalog_state_only_one')
        ),

        migrations.RemoveConstraint('OfferedModel', 'offered_model_one_default'),
        migrations.RemoveConstraint('OfferedModel', 'offered_model_default_is_shown'),
        migrations.RenameModel('OfferedModel', 'SiteModel'),
        migrations.RenameField('SiteModel', 'declared', 'metadata'),
        migrations.RenameField('SiteModel', 'learnt_window', 'observed_context_window'),
        migrations.RenameField('SiteModel', 'learnt_output', 'observed_max_output'),
        migrations.RenameField('SiteModel', 'gone', 'delisted_at'),
        migrations.RenameField('SiteModel', 'refusals', 'rejections'),
        migrations.RenameField('SiteModel', 'refused', 'last_rejected'),
        migrations.RenameField('SiteModel', 'shown', 'enabled'),
        migrations.RenameField('SiteModel', 'own_name', 'display_name'),
        migrations.AddConstraint(
            'SiteModel',
            models.UniqueConstraint(
                fields=['is_default'], condition=Q(is_default=True), name='site_model_one_default'
            ),
        ),
        migrations.AddConstraint(
            'SiteModel',
            models.CheckConstraint(
                condition=Q(is_default=False) | Q(enabled=True), name='site_model_default_is_enabled'
            ),
        ),

        migrations.RenameField('ApiKey', 'shown', 'prefix'),
        migrations.RenameField('Run', 'first_text', 'first_text_at'),
        migrations.RunPython(
            rename_permissions(MODELS), rename_permissions({new: old for old, new in MODELS.items()})
        ),
    ]
