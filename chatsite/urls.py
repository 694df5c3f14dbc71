"""Every address of the site, from its parts."""

from django.contrib import admin
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import include, path
from django.views.generic import RedirectView

from chat.admin.setup_check import checkup
from chat.views import accounts, login, passwords


def nowhere(request: HttpRequest, **_: str) -> HttpResponseBase:
    """Django's way from a row to its page on the site. None of ours has one, and a strange key was a 500."""
    raise Http404


urlpatterns = [
    path("accounts/login/", login.login, name="login"),
    path("accounts/logout/", login.logout, name="logout"),
    path("accounts/setup/<str:token>/", accounts.setup, name="setup"),
    path("accounts/invite/<str:token>/", accounts.invite, name="invite"),
    path("accounts/password/", passwords.change, name="password"),
    path("accounts/password/changed/", passwords.changed, name="password_changed"),
    path("accounts/reset/<str:uidb64>/<str:token>/", passwords.Reset.as_view(), name="reset"),
    path("admin/login/", login.admin_login),  # one way in, so that one throttle guards it
    path("admin/logout/", login.logout),
    path("admin/password_change/", RedirectView.as_view(pattern_name="password")),
    path("admin/password_change/done/", RedirectView.as_view(pattern_name="password")),
    path("admin/checkup/", checkup, name="checkup"),
    path("admin/r/<path:content_type_id>/<path:object_id>/", admin.site.admin_view(nowhere)),
    path("admin/", admin.site.urls),
    path("", include("chat.urls")),
]

handler400 = "chat.views.errors.bad_request"
handler403 = "chat.views.errors.permission_denied"
handler404 = "chat.views.errors.not_found"
handler500 = "chat.views.errors.server_error"
