"""Every address of the site, from its parts."""

from django.contrib import admin
from django.urls import include, path

from chat.views import access

urlpatterns = [
    path("accounts/login/", access.login, name="login"),
    path("accounts/logout/", access.logout, name="logout"),
    path("accounts/setup/<str:token>/", access.setup, name="setup"),
    path("admin/login/", access.admin_login),  # one way in, so that one throttle guards it
    path("admin/logout/", access.logout),
    path("admin/", admin.site.urls),
    path("", include("chat.urls")),
]

handler400 = "chat.views.errors.bad_request"
handler403 = "chat.views.errors.permission_denied"
handler404 = "chat.views.errors.not_found"
handler500 = "chat.views.errors.server_error"
