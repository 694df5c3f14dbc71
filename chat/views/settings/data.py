"""The section of the settings that exports and imports a person's conversations."""

from collections.abc import Callable, Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.files.receiving import empty_file, unwritable
from chat.limits import MEBIBYTE
from chat.models import ImportJob
from chat.transfer import problems, uploads
from chat.transfer.receiving import too_large

from ..requests import access
from . import imports
from .settings_shell import render_section

BUSY = _("Another upload of yours is still arriving. Wait for it, or close its page.")
EXPIRED = _("This page had expired. Choose the file again.")
# The reasons for a refusal of an upload, by their names in the query of this page: those of the server
# (chatsite/server/large_bodies.py), and those of the view (`imports.PROBLEM_OF_REFUSAL`).
PROBLEM_SENTENCES: dict[str, Callable[[], str | Promise]] = {
    "large": too_large,
    "busy": lambda: BUSY,
    "full": unwritable,
    "empty": empty_file,
    "expired": lambda: EXPIRED,
    "open": imports.another_is_open,
    "many": imports.too_many_today,
}


@access.require_methods("GET", "HEAD", page=True)
def data(request: HttpRequest) -> HttpResponse:
    """Show what can be exported, and the person's import: its form, its preview, its progress or its end."""
    user = access.get_user(request)
    context: dict[str, Any] = {
        "problem": _problem(request),
        "limit": uploads.max_file_bytes() // MEBIBYTE,
    }
    if context["limit"]:
        context |= _import(imports.newest(user))
        context["permit"] = uploads.permit(user.pk)
    response = render_section(request, "data", "settings/data.html", context)
    response["Cache-Control"] = "no-store"
    return response


def _problem(request: HttpRequest) -> str | Promise:
    """Return the reason for which the server has just refused an upload and redirected to this page."""
    found = PROBLEM_SENTENCES.get(request.GET.get("problem", ""))
    return found() if found else ""


def _import(job: ImportJob | None) -> dict[str, Any]:
    if job is None:
        return {"job": None}
    preview = job.preview
    skipped = preview.get("skipped", {})
    left_out = preview.get("lost", preview.get("without", {}))
    sources = preview.get("sources", ())
    reasons = problems.CONVERSATION_PROBLEMS
    return {
        "job": job,
        "size": filesizeformat(job.size),
        "preview": preview,
        "sources": ", ".join(problems.FORMAT_NAMES.get(source, source) for source in sources),
        "skipped": [(gettext(reasons[code]), number) for code, number in skipped.items()],
        "left_out": list(_by_kind(left_out)),
        "refused": job.problem and gettext(problems.FILE_PROBLEMS[job.problem]),
    }


def _by_kind(left_out: dict[str, Any]) -> Iterator[tuple[str, int, list[str], int]]:
    """Yield of each kind of content its label, how many there are, some names, and how many more."""
    for kind, label in problems.LEFT_OUT.items():
        if found := left_out.get(kind):
            yield gettext(label), found["count"], found["names"], found["count"] - len(found["names"])
