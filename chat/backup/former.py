"""Backups of 5b079f9: a SQLite file in the zip, or the rows of COPY for each table of PostgreSQL."""

import re
from collections.abc import Iterator
from pathlib import Path

from .archive import SQLITE_MEMBER, TABLES_FOLDER, Archive, FormerManifest
from .integrity import damage
from .sqlite import SqliteDatabase
from .tables import FROM_POSTGRES, BackupError, Table, TableRow, converter

# What no migration makes: views, and triggers that do more than refuse a change of the readings.
FOREIGN = """
SELECT type, name FROM sqlite_schema WHERE type = 'view' OR type = 'trigger' AND NOT (
    sql LIKE '% BEGIN SELECT RAISE(ABORT, ''a reading is never changed''); END'
    AND length(sql) - length(replace(sql, ';', '')) = 1
)
"""
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
# Those backups do not name PostgreSQL's columns. Here is their order then, where it differs from today's.
FORMER_COLUMNS = {
    "chat_apikey": (
        "id name prefix digest may_run may_list keeps_conversations created expires last_used revoked "
        "user_id may_set_gateway may_export"
    ),
    "chat_assistantdocument": "id position attachment_id version_id",
    "chat_attachment": (
        "id position media_type name alt width height size created message_id owner_id sha256 pages tokens"
    ),
    "chat_call": (
        "id model dialect streamed status finish_reason error_code error_message request_id "
        "prompt_tokens completion_tokens cached_tokens neurons created first_token finished key_id "
        "run_id user_id worker_id gateway gateway_cached gateway_log gateway_step epoch served_by"
    ),
    "chat_conversation": (
        "id title model system created updated deleted user_id active_leaf_id last_seen parameters "
        "title_state archived_at pinned_at temporary assistant_version_id"
    ),
    "chat_conversationaccess": (
        "id at reader_key reader owner_key owner conversation title address kind words"
    ),
    "chat_feedback": "id up reason updated message_id user_id conversation",
    "chat_message": "id role text reasoning model created conversation_id parent_id selected_at deleted",
    "chat_preferences": (
        "user_id theme text_size announce enter language time_zone model instructions updated favourites"
    ),
    "chat_run": (
        "id client_key fingerprint model max_tokens status stop_requested text_offset text_length "
        "reasoning_offset reasoning_length finish_reason error_code error_message request_id "
        "prompt_tokens completion_tokens cached_tokens neurons created started first_token finished "
        "conversation_id message_id user_id worker_id first_text_at parameters gateway gateway_log "
        "gateway_cached gateway_step answered_by fallback_reason retry_at epoch context_start served_by "
        "cited"
    ),
}


def file_of(archive: Archive, manifest: FormerManifest, path: Path) -> SqliteDatabase:
    """Extract the database of a backup of SQLite to `path`. Raises BackupError: when it is damaged."""
    archive.extract(SQLITE_MEMBER, path)
    if found := damage(path, thorough=True):
        raise BackupError(f"The database in the backup is damaged: {found}.")
    database = SqliteDatabase(path)
    if foreign := database.run(FOREIGN):
        database.close()
        raise BackupError("The backup's database has a {} that no version made: {}.".format(*foreign[0]))
    if any(table.rows != manifest.rows.get(table.name) for table in database.tables()):
        database.close()
        raise BackupError("The backup's database does not hold the rows that its manifest lists.")
    return database


class FormerCopy:
    """The rows of a backup of PostgreSQL. `made` are the tables that the migrations have made."""

    def __init__(self, archive: Archive, manifest: FormerManifest, made: list[Table]) -> None:
        self._archive, self._tables = archive, made
        for table in made:
            if table.name not in manifest.rows:
                raise BackupError(f"The backup does not hold the table {table.name}.")
            names = FORMER_COLUMNS.get(table.name, " ".join(table.columns)).split()
            table.columns = {name: table.columns[name] for name in names}
            table.rows = manifest.rows[table.name]

    def tables(self) -> list[Table]:
        return self._tables

    def rows(self, table: Table) -> Iterator[TableRow]:
        convert = converter(table.kinds, FROM_POSTGRES)
        for line in self._archive.lines(f"{TABLES_FOLDER}{table.name}"):
            yield convert([_value(text) for text in line.decode().split("\t")])


def _value(text: str) -> str | None:
    """Return the value that COPY has written so."""
    if text == r"\N":
        return None
    return ESCAPED.sub(lambda found: CONTROLS.get(found[1], found[1]), text) if "\\" in text else text
