"""The use of a prompt without scripts: a page with its fields, which leads to a new chat with the text."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from chat.db.executor import run_in_db
from chat.exceptions import PayloadTooLarge, RequestError
from chat.formats import grouped_number
from chat.library.prompts import library
from chat.library.prompts.fields import fields_of, fill_fields, filled_length
from chat.models import Prompt

from .. import pages
from ..requests import access, request_fields
from ..requests.errors import wants_json
from ..requests.request_parsers import MAX_QUESTION_CHARS
from ..settings.settings_shell import render_section

MAX_FIELDS = 100  # on the page; those beyond stay as they are written
FIELD_PREFIX = "field:"  # of the fields' names in the form


@access.require_methods("GET", "HEAD", "POST", page=True)
async def use(request: HttpRequest, prompt: uuid.UUID) -> HttpResponseBase:
    """Show a prompt with its fields; a POST of their values shows a new chat with the text in its box."""
    page_or_text = await run_in_db(_page_or_text, request, prompt)
    return (
        await pages.render_with_text(request, page_or_text) if isinstance(page_or_text, str) else page_or_text
    )


def _page_or_text(request: HttpRequest, key: uuid.UUID) -> HttpResponse | str:
    """Return the page, or the text that a POST has filled in."""
    prompt = library.find(access.get_user(request), key)
    if request.method != "POST":
        return _page(request, prompt)
    try:
        return _filled(request, prompt)
    except RequestError as refusal:
        if wants_json(request):
            raise
        return _page(request, prompt, refusal)


def _shown_fields(prompt: Prompt) -> dict[str, str]:
    """Return the fields that the page asks for, with their defaults."""
    return dict(list(fields_of(prompt.text).items())[:MAX_FIELDS])


def _filled(request: HttpRequest, prompt: Prompt) -> str:
    """Return the text with the sent values. Raises BadRequest and PayloadTooLarge."""
    names = _shown_fields(prompt)
    sent = request_fields.parse(request, *(FIELD_PREFIX + name for name in names), required=False)
    values = {
        name: request_fields.parse_text(sent, FIELD_PREFIX + name, MAX_QUESTION_CHARS) or ""
        for name in names
        if FIELD_PREFIX + name in sent
    }
    length = filled_length(prompt.text, values)
    if length > MAX_QUESTION_CHARS:
        words = _("Your message has %(length)s characters; the limit is %(longest)s.")
        sizes = {"length": grouped_number(length), "longest": grouped_number(MAX_QUESTION_CHARS)}
        raise PayloadTooLarge(words % sizes)
    return fill_fields(prompt.text, values)


def _page(request: HttpRequest, prompt: Prompt, refusal: RequestError | None = None) -> HttpResponse:
    shown = _shown_fields(prompt)
    context = {
        "prompt": prompt,
        "fields": [
            (FIELD_PREFIX + name, name, request.POST.get(FIELD_PREFIX + name, default))
            for name, default in shown.items()
        ],
        "more": len(fields_of(prompt.text)) > len(shown),
        "refusal": refusal.message if refusal else "",
    }
    status = refusal.status if refusal else 200
    return render_section(request, "prompts", "prompts/use.html", context, status)
