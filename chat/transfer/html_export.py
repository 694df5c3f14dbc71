"""Export of a conversation's active branch as one HTML file without scripts and remote resources."""

import asyncio
import re
from base64 import b64encode
from collections.abc import AsyncIterator
from datetime import tzinfo
from functools import cache

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import get_language, get_language_bidi
from django.utils.translation import gettext as _

from chat.db.executor import run_in_db
from chat.files import files
from chat.files.problems import StorageUnavailable
from chat.message_rendering import Text, render_page
from chat.models import Conversation, Message

from .json_export import is_picture, read, sha256_in, shown_batches, sources_of
from .markdown_export import NameOf, author, written_time
from .records import Object, written

# The style sheet is inserted here and not by the template, which would escape it.
DOCUMENT_START = """<!DOCTYPE html>
<html lang="{language}" dir="{direction}">
<head>
<meta charset="utf-8">
<style>{styles}</style>
"""
DOCUMENT_BODY = "</head>\n<body>\n<main>\n"
DOCUMENT_END = "</main>\n</body>\n</html>\n"
# The parts of static/css/chat.css that begin and end with these lines, after all of tokens.css.
STYLESHEET_PARTS = (
    (r"  /\* prose: ", r"/\* end of prose \*/"),
    (r"/\* code: ", r"\Z"),
)
OWN = """
*, ::before, ::after { box-sizing: border-box; margin: 0; }
body {
  max-inline-size: var(--column); margin: 2rem auto; padding-inline: 1rem; overflow-wrap: anywhere;
  color: var(--text); background: var(--ground);
  font: 1rem/1.6 var(--sans);
}
a { color: var(--accent); }
h1 { font-size: 1.5rem; line-height: 1.3; }
h2 { font-size: .875rem; font-weight: 600; }
h2 time, .about { color: var(--muted); font-size: .8125rem; font-weight: 400; }
article { margin-block-start: 1.75rem; }
.picture { margin-block: .5rem; }
.picture img {
  max-inline-size: 100%; max-block-size: 30rem; inline-size: auto; block-size: auto;
  border-radius: var(--round);
}
.plain { white-space: pre-wrap; }
.question .plain { padding: .75rem 1rem; border-radius: var(--round); background: var(--soft); }
details { margin-block: .5rem; color: var(--muted); font-size: .875rem; }
svg { inline-size: 1em; block-size: 1em; }
@media print {
  body { margin: 0; max-inline-size: none; }
  .question .plain { border: 1px solid var(--edge); }
  h2 { break-after: avoid; }
  .prose :is(.code, tr) { break-inside: avoid; }
  .code pre { white-space: pre-wrap; }
  .prose :is(.table, .equation) { overflow: visible; }
  .prose :is(th, td) { min-inline-size: 5ch; padding-inline: .25rem; overflow-wrap: anywhere; }
  .prose table:has(th:nth-child(16)) :is(th, td) { min-inline-size: 0; }
}
"""


async def html_pieces(conversation: Conversation, zone: tzinfo, name_of: NameOf) -> AsyncIterator[str]:
    """Yield the file in pieces, reading and rendering only what the next piece needs. Times are in `zone`."""
    yield await run_in_db(_head, conversation, zone)  # it names the assistant, which may have to be read
    for batch in await run_in_db(shown_batches, conversation):
        messages = await run_in_db(read, batch)
        texts = [Text(each["text"], each["id"], typed=each["role"] == Message.Role.USER) for each in messages]
        html = await render_page(conversation.user_id, texts)
        for message, rendered in zip(messages, html, strict=True):
            pictures = files.STORAGE_POOL.submit(conversation.user_id, _pictures, message)
            yield _message(message, rendered, await asyncio.wrap_future(pictures), zone, name_of)
    yield DOCUMENT_END


def _head(conversation: Conversation, zone: tzinfo) -> str:
    direction = "rtl" if get_language_bidi() else "ltr"
    start = DOCUMENT_START.format(language=get_language() or "en", direction=direction, styles=style_sheet())
    now = written(timezone.now()) or ""
    about = _("Exported %(when)s") % {"when": written_time(now, zone)}
    context = {"conversation": conversation, "about": about}
    head, heading = (render_to_string(f"transfer/{name}.html", context) for name in ("head", "heading"))
    return f"{start}{head}{DOCUMENT_BODY}{heading}"


def _pictures(message: Object) -> list[Object]:
    """Return the message's pictures with their bytes as data URLs; "" for one that cannot be read."""
    pictures = filter(is_picture, message.get("attachments", ()))
    return [{**each, "data_url": _data_url(each)} for each in pictures]


def _data_url(picture: Object) -> str:
    try:
        content = files.read(sha256_in(picture["file"]))
    except (FileNotFoundError, StorageUnavailable):
        return ""
    return f"data:{picture['media_type']};base64,{b64encode(content).decode()}"


def _message(message: Object, html: str, pictures: list[Object], zone: tzinfo, name_of: NameOf) -> str:
    context = {
        "message": message,
        "pictures": pictures,
        "documents": [each for each in message.get("attachments", ()) if not is_picture(each)],
        "author": author(message, name_of),
        "time": written_time(message["created"], zone),
        "html": html,
        "sources": sources_of(message),
    }
    return render_to_string("transfer/message.html", context)


@cache
def style_sheet() -> str:
    tokens, source = (
        (settings.BASE_DIR / f"static/css/{name}.css").read_text("utf-8") for name in ("tokens", "chat")
    )
    found = (re.search(f"{start}.*?{end}", source, re.DOTALL) for start, end in STYLESHEET_PARTS)
    return "\n".join([tokens, *(part[0] for part in found if part), OWN])
