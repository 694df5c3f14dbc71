"""Permits for uploads, and the folder in which an uploaded file is kept until its import has ended.

The files are in `imports` of DATA_DIR and not in the database: they may be much larger than what is stored of
them, and reading a zip archive needs random access. A process imports only files in its own DATA_DIR.
"""

import uuid
from pathlib import Path
from urllib.parse import parse_qs

from django.conf import settings
from django.core import signing
from django.urls import reverse

from chat.limits import MEBIBYTE

IMPORT_FORM_BYTES = 65_536  # allowance for the multipart form around the file
PERMIT_SECONDS = 86_400
UPLOAD_SALT = "chat.transfer.upload"


def max_file_bytes() -> int:
    """Return the size limit of a file; 0 if imports are off."""
    return int(settings.IMPORT_MAX_MB) * MEBIBYTE


def folder() -> Path:
    found = Path(settings.DATA_DIR) / "imports"
    found.mkdir(mode=0o700, exist_ok=True)
    return found


def path_of(job: uuid.UUID) -> Path:
    return folder() / str(job)


def permit(user: int) -> str:
    """Return a token that lets this person send a large body.

    The server checks it before it reads the body, without a database query. It also takes the place of the
    CSRF token: it is in this person's page only, and no other site can sign one.
    """
    return signing.TimestampSigner(salt=UPLOAD_SALT).sign(str(user))


def body_limit(method: bytes, uri: bytes) -> tuple[int, int] | None:
    """Return (user id, size limit of the body) if the request may upload a file, otherwise None."""
    path, _, query = uri.partition(b"?")
    if method != b"POST" or path != reverse("chat:import").encode() or not max_file_bytes():
        return None
    token = parse_qs(query.decode("latin-1")).get("permit", [""])[0]
    person = permitted(token)
    return None if person is None else (person, max_file_bytes() + IMPORT_FORM_BYTES)


def permitted(token: str) -> int | None:
    """Return the id of the user for whom the token was made; None if it is invalid or has expired."""
    try:
        return int(signing.TimestampSigner(salt=UPLOAD_SALT).unsign(token, max_age=PERMIT_SECONDS))
    except (signing.BadSignature, ValueError):
        return None
