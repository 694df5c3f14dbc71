"""The page on which the administration sets the site's name, colour and picture."""

import hashlib
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.db.executor import run_in_db
from chat.exceptions import RequestError
from chat.files.decoding import EncodedPicture
from chat.files.receiving import IMAGE_INPUT
from chat.models import Site
from chat.models.site import VERSION_CHARS
from chat.views.files import form_files
from chat.views.files.attachment_parts import PICTURES
from chat.views.requests import access
from chat.views.requests.responses import HttpResponseSeeOther
from chat.views.site import ICON_PIXELS, PICTURE_PIXELS

from .setup_check import refusal


class SiteForm(forms.ModelForm):
    class Meta:
        model = Site
        fields = ("name", "colour")
        widgets = {"colour": forms.RadioSelect}


@form_files.receives(IMAGE_INPUT)
@access.require_methods("GET", "HEAD", "POST")
async def site(request: HttpRequest) -> HttpResponseBase:
    """Show the form; a POST stores it. Every page has the new name and colour with its next load."""
    if (refused := await run_in_db(refusal, request)) is not None:
        return refused
    if request.method != "POST":
        return await run_in_db(_page, request)
    try:
        squares = await form_files.squares_from_form(request, ICON_PIXELS, PICTURE_PIXELS)
    except RequestError as error:
        return await run_in_db(_page, request, error.message, error.status)
    return await run_in_db(_save, request, squares)


def log(request: HttpRequest, done: str) -> None:
    """Keep in the administration's history who changed what of the site."""
    LogEntry.objects.log_actions(
        access.get_user(request).pk,
        Site.objects.filter(pk=Site.ONLY).defer("icon", "picture"),
        CHANGE,
        change_message=done,
        single_object=True,
    )


def _save(request: HttpRequest, squares: list[EncodedPicture]) -> HttpResponse:
    form = SiteForm(request.POST, instance=Site.objects.one())
    if not form.is_valid():
        return _page(request, status=400, form=form)
    Site.objects.store(**form.cleaned_data, **_picture(request, squares))
    log(request, "name, color or picture")
    messages.success(request, gettext("Saved."))
    return HttpResponseSeeOther(reverse("site"))


def _picture(request: HttpRequest, squares: list[EncodedPicture]) -> dict[str, Any]:
    """Return the fields that a new picture, or the wish for none, changes."""
    if squares:
        icon, picture = (each.content for each in squares)
        version = hashlib.sha256(picture).hexdigest()[:VERSION_CHARS]
        return {"icon": icon, "picture": picture, "picture_version": version}
    if request.POST.get("no_picture"):
        return {"icon": None, "picture": None, "picture_version": ""}
    return {}


def _page(
    request: HttpRequest, problem: str = "", status: int = 200, form: SiteForm | None = None
) -> HttpResponse:
    row = Site.objects.one()
    if form is None:
        form = SiteForm(request.POST if problem else None, instance=row)
    context = {
        **admin.site.each_context(request),
        "title": _("Name and picture"),
        "form": form,
        "row": row,
        "problem": problem,
        "accepted_images": ",".join(PICTURES) if settings.ATTACHMENTS else "",
    }
    return render(request, "admin/chat/site.html", context, status=status)
