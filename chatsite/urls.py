"""The root URLconf: accounts, administration, and the URLs of `chat`."""

from urllib.parse import quote

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.urls import include, path, reverse
from django.views.generic import RedirectView

from chat.admin.connect import connect
from chat.admin.setup_check import checkup
from chat.admin.site import site
from chat.views.accounts import accounts, login


def nowhere(request: HttpRequest, **_: str) -> HttpResponseBase:
    """Answer 404 in place of Django's redirect from an object to its page: no model has one.

    With a malformed key, Django's view answered 500.
    """
    raise Http404


def renamed(request: HttpRequest, model: str, rest: str) -> HttpResponseBase:
    """Redirect from a former admin URL of a model, with the query. 308: a form is sent again as it is."""
    address = f"{reverse(f'admin:chat_{model}_changelist')}{quote(rest)}"
    if query := request.META.get("QUERY_STRING", ""):
        address += f"?{query}"
    return HttpResponsePermanentRedirect(address, preserve_request=True)


urlpatterns = [
    # First, because an open stream keeps the list of the patterns tried before its own: as last, 7 kB.
    path("", include("chat.urls")),
    path("accounts/login/", login.login, name="login"),
    path("accounts/logout/", login.logout, name="logout"),
    path("accounts/setup/<str:token>/", accounts.setup, name="setup"),
    path("accounts/invite/<str:token>/", accounts.invite, name="invite"),
    path("accounts/password/", accounts.change, name="password"),
    path("accounts/password/changed/", accounts.changed, name="password_changed"),
    path("accounts/reset/<str:uidb64>/<str:token>/", accounts.Reset.as_view(), name="reset"),
    path("admin/login/", login.admin_login),  # the same view, so that the same throttle guards it
    path("admin/logout/", login.logout),
    path("admin/password_change/", RedirectView.as_view(pattern_name="password")),
    path("admin/password_change/done/", RedirectView.as_view(pattern_name="password")),
    path("admin/checkup/", checkup, name="checkup"),
    path("admin/site/", site, name="site"),
    path("admin/connect/", connect, name="connect"),
    path("admin/r/<path:content_type_id>/<path:object_id>/", admin.site.admin_view(nowhere)),
    path("admin/chat/offeredmodel/<path:rest>", renamed, {"model": "sitemodel"}),
    path("admin/chat/offeredmodel/", renamed, {"model": "sitemodel", "rest": ""}),
    path("admin/chat/reading/<path:rest>", renamed, {"model": "conversationaccess"}),
    path("admin/chat/reading/", renamed, {"model": "conversationaccess", "rest": ""}),
    path("admin/", admin.site.urls),
]

handler400 = "chat.views.requests.errors.bad_request"
handler403 = "chat.views.requests.errors.permission_denied"
handler404 = "chat.views.requests.errors.not_found"
handler500 = "chat.views.requests.errors.server_error"
