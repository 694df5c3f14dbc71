"""Django's database sessions, read without its query compiler, which takes longer than SQLite itself.

The database holds a digest of each session's key, so that a reader of it, or of a copy, can use no session.
"""

import hashlib
from typing import Any

from django.contrib.auth import BACKEND_SESSION_KEY
from django.contrib.sessions.backends import db
from django.db import connection
from django.utils import timezone

# Sessions of the time when the backend had another module keep its former path; Django would end them.
FORMER_BACKEND, BACKEND = "chat.backends.AccountBackend", "chat.accounts.backends.AccountBackend"
DIGEST_CHARS = 40  # the column's length: 160 bits of the SHA-256 digest, as many as a key has


def session_digest(key: str) -> str:
    """Return the digest that is stored of a session key. One fast hash is safe, because a key is random."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARS]


class SessionStore(db.SessionStore):
    """Sessions whose keys are stored as digests. `load` is SQL, because each request of a user runs it."""

    def load(self) -> dict[str, Any]:
        """Return the session's data; {} for a new session if the key is unknown or has expired."""
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s",
                [session_digest(self.session_key or ""), now],
            )
            row = cursor.fetchone()
        if row is None:
            self._session_key = None
            return {}
        return self.decode(row[0])

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        data: dict[str, Any] = super().decode(session_data)
        if data.get(BACKEND_SESSION_KEY) == FORMER_BACKEND:
            data[BACKEND_SESSION_KEY] = BACKEND
        return data

    async def aload(self) -> dict[str, Any]:
        found = await self.model.objects.filter(
            session_key=session_digest(self.session_key or ""), expire_date__gt=timezone.now()
        ).afirst()
        if found is None:
            self._session_key = None
            return {}
        return self.decode(found.session_data)

    def exists(self, session_key: str) -> bool:
        return super().exists(session_digest(session_key))

    async def aexists(self, session_key: str) -> bool:
        return await super().aexists(session_digest(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        row = super().create_model_instance(data)
        row.session_key = session_digest(row.session_key)
        return row

    async def acreate_model_instance(self, data: dict[str, Any]) -> Any:
        row = await super().acreate_model_instance(data)
        row.session_key = session_digest(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            super().delete(session_digest(key))

    async def adelete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            await super().adelete(session_digest(key))
