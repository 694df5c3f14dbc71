"""Settings page: theme, screen reader announcements and the Enter key, for this browser."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.db import run_in_db
from chat.exceptions import BadRequest, NotAuthenticated

from . import access, preferences, request_fields
from .errors import is_form
from .redirects import HttpResponseSeeOther


@access.require_methods("GET", "HEAD", "POST")
async def settings(request: HttpRequest) -> HttpResponseBase:
    """Show the preferences, or store the sent ones: all of them, or none if one has an invalid value."""
    return await run_in_db(_keep if request.method == "POST" else _show, request)


def _show(request: HttpRequest) -> HttpResponse:
    try:
        access.get_user(request)
    except NotAuthenticated:
        return access.login_redirect(request)
    return render(request, "chat/settings.html", {"saved": "saved" in request.GET})


def _keep(request: HttpRequest) -> HttpResponse:
    access.get_user(request)
    chosen = _chosen(request)
    if is_form(request):
        response: HttpResponse = HttpResponseSeeOther(f"{reverse('chat:preferences')}?saved=1")
    else:
        response = JsonResponse(preferences.read(request) | chosen)
    preferences.keep(response, chosen)
    return response


def _chosen(request: HttpRequest) -> dict[str, str]:
    sent = request_fields.parse(request, *preferences.CHOICES)
    if not sent:
        raise BadRequest(_("Send one of: %(names)s.") % {"names": ", ".join(preferences.CHOICES)})
    for name, value in sent.items():
        if value not in preferences.CHOICES[name]:
            words = _("“%(name)s” must be one of: %(names)s.")
            raise BadRequest(words % {"name": name, "names": ", ".join(preferences.CHOICES[name])})
    return sent
