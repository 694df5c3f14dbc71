"""The preview of a reply's HTML or SVG block: a document that runs no script and loads nothing."""

import re
import uuid

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.db.executor import run_in_db
from chat.db.fair_executor import RENDER_POOL
from chat.exceptions import BadRequest, NotFound
from chat.message_rendering import Text, render_page
from chat.models import Message, User
from chat.rendering.code_blocks import document, has_scripts, previewable_source

from ..pages import require_room
from ..requests import access
from ..requests.errors import is_part

ORDINAL = re.compile(r"[1-9]\d{0,5}", re.ASCII)
PREVIEW_HEADERS = {
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "unsafe-none",  # a browser shows no sandboxed document with another value
    "Cache-Control": "private, no-store",
}


@access.require_methods("GET", "HEAD", page=True)
async def preview(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Return the document of the block `?block=1`, counted from 1 among the blocks that have a preview.

    For the chat page's own script, return the frame that shows it.
    """
    user, own_message, number = await run_in_db(_read, request, message)
    require_room(user.pk)
    [html] = await render_page(user.pk, [Text(own_message.text, str(own_message.pk), final=False)])
    source = await RENDER_POOL.run(user.pk, previewable_source, html, number)
    if source is None:
        raise NotFound(_("This reply has no such code block."))
    if is_part(request):
        url = f"{reverse('chat:preview', args=[message])}?block={number}"
        context = {"url": url, "scripts": has_scripts(source)}
        return HttpResponse(render_to_string("chat/_code_preview.html", context))
    return HttpResponse(document(source), headers=PREVIEW_HEADERS)


def _read(request: HttpRequest, key: uuid.UUID) -> tuple[User, Message, int]:
    user, message = access.get_user(request), access.get_message_or_404(request, key)
    number = request.GET.get("block", "1")
    if not ORDINAL.fullmatch(number):
        raise BadRequest(_("“block” must be the number of a code block."))
    if message.role != Message.Role.ASSISTANT:
        raise NotFound(_("This reply has no such code block."))
    return user, message, int(number)
