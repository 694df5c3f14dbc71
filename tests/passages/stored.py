"""Documents for tests, stored without reading a file."""

import io
from collections.abc import Sequence

from chat.files import uploads
from chat.files.extraction import Extracted
from chat.models import Attachment, Message, User

PDF = "application/pdf"


def document(
    owner: User,
    pages: Sequence[str],
    name: str = "report.pdf",
    message: Message | None = None,
    media_type: str = PDF,
) -> Attachment:
    """Store a document with these pages; its file is its text."""
    file = io.BytesIO("\f".join(pages).encode())
    stored = uploads.store_document(owner, name, file, Extracted(media_type, tuple(pages)))
    if message:
        stored.message = message
        stored.save()
    return stored
