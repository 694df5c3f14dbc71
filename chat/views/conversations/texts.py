"""A text beside the chat: shown, compared with another version, edited by hand, downloaded and run."""

import csv
import io
import re
import uuid
from itertools import groupby
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from selectolax.lexbor import LexborHTMLParser

from chat.accounts.timezones import timezone_of
from chat.conversations.turns.versions import write_version
from chat.db.executor import run_in_db
from chat.db.fair_executor import RENDER_POOL
from chat.exceptions import BadRequest, Conflict, NotFound
from chat.limits import MAX_REPLY_CHARS
from chat.rendering.block_texts import document, with_block
from chat.rendering.code_blocks import MERMAID, extension_of
from chat.rendering.differences import EQUAL, differences

from ..requests import access, request_fields
from ..requests.request_fields import is_form, is_part
from ..requests.responses import HttpResponseSeeOther, message_url
from . import text_versions
from .text_versions import Sought, Version, VersionedText

VIEWS = ("text", "edit", "run")
# Compressed once and for all: as a static file it would triple the time of collectstatic.
MERMAID_SCRIPT = "vendor/mermaid/mermaid.tiny.js.gz"
# What runs may run scripts, and nothing else: it has no origin of ours, loads and sends nothing, opens no
# window and cannot leave its frame. The frame of the page says the same; a page that is opened by itself runs
# nothing.
SANDBOX = "sandbox allow-scripts"
STILL = "sandbox"
POLICY = (
    "default-src 'none'; {scripts}style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; "
    "font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
# The scripts of a document, and the hosts that Chromium lets it reach in any way.
OWN_SCRIPTS = "script-src 'unsafe-inline'; require-trusted-types-for 'script'; trusted-types default; ", "()"
MERMAID_SCRIPTS = "script-src 'self'; ", "(response-origin)"
RUN_HEADERS = {
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "unsafe-none",  # a browser shows no sandboxed document with another value
    "Cache-Control": "private, no-store",
}
FORMULA = re.compile(r"[=+\-@\t\r](?![\d.,\s%€$-]*\Z)")  # a spreadsheet would compute it


@access.require_methods("GET", "HEAD", "POST", page=True)
async def text(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Show a reply, or with `?block=` one of its code blocks; with a POST, store a version edited by hand.

    `?view=` is one of VIEWS, `?latest` leads to the newest version, and `?download` gives it as a file:
    `?download=table` the tables of a reply as CSV.
    """
    if request.method == "POST":
        return await _edited(request, message)
    found = await _find(request, message)
    if "latest" in request.GET and found.shown is not found.versions[-1]:
        found = await _find(request, found.versions[-1].message, found.versions[-1].block)
    if "download" in request.GET:
        as_table = request.GET["download"] == "table"
        return await RENDER_POOL.run(found.sought.user.pk, _download, found, as_table)
    view = request_fields.parse_choice(request.GET, "view", VIEWS, "text")
    context = _context(request, found) | {"view": view}
    if not context.get(f"can_{view}", True):
        raise NotFound(_("This reply has no such code block."))
    return await RENDER_POOL.run(found.sought.user.pk, _page, request, context)


@access.require_methods("GET", "HEAD", page=True)
async def changes(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Show what changed up to this version, since the one `?from=` names or else the one before it."""
    found = await _find(request, message)
    first, last = sorted((_other(request, found), found.index))
    before, after = found.versions[first], found.versions[last]
    pieces = await RENDER_POOL.run(found.sought.user.pk, differences, before.source, after.source)
    context = _context(request, found) | {
        "view": "changes",
        "pieces": pieces,
        "count": sum(changed for changed, _run in groupby(pieces, lambda piece: piece.kind != EQUAL)),
        "first": first + 1,
        "last": last + 1,
        "compared": found.versions[first if last == found.index else last],
    }
    return await RENDER_POOL.run(found.sought.user.pk, _page, request, context)


@access.require_methods("GET", "HEAD", page=True)
async def run(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Return the document of a block of HTML, SVG or Mermaid, for the frame in which it runs."""
    found = await _find(request, message)
    code = found.shown.code
    if code is None or not code.is_runnable:
        raise NotFound(_("This reply has no such code block."))
    # Where a browser does not say what it loads the document for, as on http, it runs without an origin too.
    runs = request.headers.get("Sec-Fetch-Dest", "iframe") == "iframe"
    scripts, hosts = MERMAID_SCRIPTS if code.language == MERMAID else OWN_SCRIPTS
    policy = POLICY.format(scripts=scripts if runs else "")
    headers = RUN_HEADERS | {
        "Content-Security-Policy": f"{SANDBOX if runs else STILL}; {policy}",
        "Connection-Allowlist": hosts,
    }
    return HttpResponse(document(code, reverse("chat:mermaid"), runs=runs), headers=headers)


@access.require_methods("GET", "HEAD")
def mermaid(request: HttpRequest) -> HttpResponse:
    """Return the script that draws diagrams, to frames, which have no origin. Its address has its version."""
    headers = {
        "Content-Encoding": "gzip",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Cache-Control": "public, max-age=31536000, immutable",
    }
    script = Path(str(finders.find(MERMAID_SCRIPT))).read_bytes()
    return HttpResponse(script, content_type="text/javascript; charset=utf-8", headers=headers)


async def _find(request: HttpRequest, key: uuid.UUID, block: int | None = None) -> VersionedText:
    return await text_versions.find(await run_in_db(text_versions.read, request, key, block))


async def _edited(request: HttpRequest, key: uuid.UUID) -> HttpResponseBase:
    sought, written = await run_in_db(_read_edit, request, key)
    whole = written
    if sought.block:
        found = await text_versions.find(sought)
        replaced = await RENDER_POOL.run(
            sought.user.pk, with_block, sought.message.text, found.blocks, sought.block, written
        )
        if replaced is None:
            raise Conflict(_("This block can’t be edited alone. Edit the whole reply."))
        whole = replaced
    if len(whole) > MAX_REPLY_CHARS:
        raise BadRequest(_("This is too long for a reply."))
    version = await run_in_db(write_version, sought.user, key, whole)
    shown = {"message": str(version.pk), "block": sought.block}
    if is_form(request):
        query = f"?block={sought.block}" if sought.block else ""
        return HttpResponseSeeOther(reverse("chat:text", args=[version.pk]) + query)
    return JsonResponse({"conversation": str(version.conversation_id), **shown})


def _read_edit(request: HttpRequest, key: uuid.UUID) -> tuple[Sought, str]:
    sought = text_versions.read(request, key)
    sent = request_fields.parse(request, "text")
    written = request_fields.parse_text(sent, "text", MAX_REPLY_CHARS, required=True)
    return sought, written or ""


def _other(request: HttpRequest, found: VersionedText) -> int:
    """Return the place of the version to compare with. Raises NotFound."""
    key = request_fields.parse_uuid(request.GET, "from")
    if key is None:
        return max(0, found.index - 1)
    for place, version in enumerate(found.versions):
        if version.message == key:
            return place
    raise NotFound(_("“%(name)s” doesn’t match anything here.") % {"name": "from"})


def _context(request: HttpRequest, found: VersionedText) -> dict[str, Any]:
    sought, shown, code, zone = found.sought, found.shown, found.shown.code, timezone_of(request)
    is_program = code is not None and not code.holds_words
    versions = [
        {
            "number": number,
            "version": each,
            "created": timezone.localtime(each.created, zone),
            "url": _address("text", each),
            "changes": _address("changes", each),
        }
        for number, each in enumerate(found.versions, 1)
    ]
    return {
        "part": is_part(request),
        "title": sought.title,
        "conversation": sought.message.conversation_id,
        "is_reply": sought.is_reply,
        "is_followed": sought.is_followed,
        "shown": shown,
        "html": found.html,
        "number": found.index + 1,
        "versions": versions,
        "urls": _urls(sought, shown),
        "is_program": is_program,
        "has_table": sought.is_reply and not is_program and "<table" in found.html,
        "can_run": code is not None and code.is_runnable,
        "can_edit": sought.is_reply
        and (code is None or with_block(shown.text, found.blocks, shown.block or 0, code.code) is not None),
    }


def _urls(sought: Sought, shown: Version) -> dict[str, str]:
    text = _address("text", shown)
    more = "&" if shown.query else "?"
    return {
        "text": text,
        "edit": f"{text}{more}view=edit",
        "run": f"{text}{more}view=run",
        "download": f"{text}{more}download=",
        "frame": _address("run", shown),
        "changes": _address("changes", shown),
        "compare": reverse("chat:changes", args=[shown.message]),
        "chat": message_url(sought.message.conversation_id, shown.message),
    }


def _address(name: str, version: Version) -> str:
    return reverse(f"chat:{name}", args=[version.message]) + version.query


def _page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    template = "chat/_text.html" if is_part(request) else "chat/text.html"
    return render(request, template, context)


def _download(found: VersionedText, as_table: bool) -> HttpResponse:
    code = found.shown.code
    if as_table:
        name, content = "table.csv", _tables(found.html)
    elif code:
        name, content = f"code.{extension_of(code.language)}", code.code
    else:
        name, content = "text.md", found.shown.text
    response = HttpResponse(content, content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response


def _tables(html: str) -> str:
    """Return the tables as CSV, with an empty line between two; a cell that would be computed has a quote."""
    out = io.StringIO()
    writer = csv.writer(out)
    tables = LexborHTMLParser(html).css("table")
    if not tables:
        raise NotFound(_("This reply has no table."))
    for number, table in enumerate(tables):
        if number:
            out.write("\r\n")
        for row in table.css("tr"):
            cells = [cell.text().strip() for cell in row.css("th, td")]
            writer.writerow(f"'{cell}" if FORMULA.match(cell) else cell for cell in cells)
    return "\ufeff" + out.getvalue()  # the mark tells a spreadsheet that this is UTF-8
