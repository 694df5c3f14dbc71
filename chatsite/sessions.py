"""Django's sessions in the database, read without its query compiler, which takes longer than SQLite.

The database holds a hash of each session's key: who reads it, or a copy of it, cannot use anybody's session.
"""

import hashlib
from typing import Any

from django.contrib.sessions.backends import db
from django.db import connection
from django.utils import timezone

STORED_CHARS = 40  # what the column takes: 160 bits of SHA-256, as many as a key has


def stored(key: str) -> str:
    """What is stored of a session's key. It is random, so one fast hash is enough."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:STORED_CHARS]


class SessionStore(db.SessionStore):
    """Each request of somebody signed in reads one."""

    def load(self) -> dict[str, Any]:
        """The session's data; that of a new one where the key is unknown or has expired."""
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s",
                [stored(self.session_key or ""), now],
            )
            row = cursor.fetchone()
        if row is None:
            self._session_key = None
            return {}
        return self.decode(row[0])

    async def aload(self) -> dict[str, Any]:
        found = await self.model.objects.filter(
            session_key=stored(self.session_key or ""), expire_date__gt=timezone.now()
        ).afirst()
        if found is None:
            self._session_key = None
            return {}
        return self.decode(found.session_data)

    def exists(self, session_key: str) -> bool:
        return super().exists(stored(session_key))

    async def aexists(self, session_key: str) -> bool:
        return await super().aexists(stored(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        row = super().create_model_instance(data)
        row.session_key = stored(row.session_key)
        return row

    async def acreate_model_instance(self, data: dict[str, Any]) -> Any:
        row = await super().acreate_model_instance(data)
        row.session_key = stored(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            super().delete(stored(key))

    async def adelete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            await super().adelete(stored(key))
