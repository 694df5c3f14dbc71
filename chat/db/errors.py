"""Tell outages of the database from wrong statements; an outage is answered with 503, never with 500."""

import logging
import threading
from enum import Enum

from django.db import InterfaceError, OperationalError
from django.db.utils import Error
from django.utils.translation import gettext, gettext_noop

from ..exceptions import RequestError

OUTAGE_RETRY_SECONDS = 5

logger = logging.getLogger(__name__)
damage_seen = threading.Event()
"""Set once a statement has met damage. Only a restart clears it, because the file is checked at startup."""


class Outage(Enum):
    """A reason why the database cannot be used. Its value is the text that `/readyz` returns."""

    AWAY = "database unreachable"
    SILENT = "database does not answer"
    BUSY = "database busy"
    FULL = "disk full"
    UNWRITABLE = "disk cannot be written"
    DAMAGED = "database damaged"


OUTAGE_MESSAGES = {
    Outage.AWAY: gettext_noop("The database can’t be reached right now. Try again soon."),
    Outage.SILENT: gettext_noop("The database isn’t responding right now. Try again soon."),
    Outage.BUSY: gettext_noop("The database is too busy right now. Try again soon."),
    Outage.FULL: gettext_noop(
        "The server’s disk is full, so nothing new can be saved. Ask your administrator to free up space."
    ),
    Outage.UNWRITABLE: gettext_noop(
        "The server can’t write to its disk, so nothing new can be saved. Tell your administrator."
    ),
    Outage.DAMAGED: gettext_noop(
        "The database is damaged. Ask your administrator to restore it from a backup."
    ),
}
OUTAGE_CODES = {
    Outage.FULL: "storage_full",
    Outage.UNWRITABLE: "storage_unwritable",
    Outage.DAMAGED: "storage_damaged",
}
# Primary result codes: https://www.sqlite.org/rescode.html. All others are the statement's fault.
SQLITE_OUTAGES = {
    3: Outage.UNWRITABLE,  # PERM
    5: Outage.BUSY,
    6: Outage.BUSY,  # LOCKED
    7: Outage.BUSY,  # NOMEM
    8: Outage.UNWRITABLE,  # READONLY
    9: Outage.BUSY,  # INTERRUPT
    10: Outage.UNWRITABLE,  # IOERR
    11: Outage.DAMAGED,  # CORRUPT
    13: Outage.FULL,
    14: Outage.AWAY,  # CANTOPEN
    26: Outage.DAMAGED,  # NOTADB
}
# https://www.postgresql.org/docs/current/errcodes-appendix.html
POSTGRES_OUTAGES = {
    "25006": Outage.UNWRITABLE,  # a standby that is not promoted yet
    "25P03": Outage.AWAY,  # it has ended a transaction that was idle for too long
    "40001": Outage.BUSY,
    "40P01": Outage.BUSY,
    "53100": Outage.FULL,
    "55P03": Outage.BUSY,
    "57014": Outage.BUSY,
    "58030": Outage.UNWRITABLE,
    "XX001": Outage.DAMAGED,
    "XX002": Outage.DAMAGED,
}


class DatabaseUnavailable(RequestError):
    status = 503

    def __init__(self, outage: Outage) -> None:
        super().__init__(gettext(OUTAGE_MESSAGES[outage]), retry_after=OUTAGE_RETRY_SECONDS)
        self.code = OUTAGE_CODES.get(outage, "unavailable")
        self.outage = outage


def outage_of(error: BaseException) -> Outage | None:
    """Return the outage behind `error`; None if the statement is to blame or it is no database error."""
    if not isinstance(error, Error):
        return None
    cause = error.__cause__
    if (code := getattr(cause, "sqlite_errorcode", None)) is not None:
        return SQLITE_OUTAGES.get(code & 0xFF)
    if state := getattr(cause, "sqlstate", None):
        lost = isinstance(error, OperationalError)
        return POSTGRES_OUTAGES.get(state, Outage.AWAY if lost else None)
    return Outage.AWAY if isinstance(error, OperationalError | InterfaceError) else None


def unavailable(error: Error) -> DatabaseUnavailable:
    """Return the 503 for `error`, and log it. Raises `error` itself if it is a bug rather than an outage."""
    outage = outage_of(error)
    if outage is None:
        raise error
    if outage is Outage.DAMAGED:
        damage_seen.set()
    logger.warning("refused a request: %s (%s)", outage.value, type(error.__cause__ or error).__name__)
    return DatabaseUnavailable(outage)
