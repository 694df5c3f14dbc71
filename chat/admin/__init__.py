"""The administration: review of conversations, accounts, models, and the state of the server.

One subject per file.
"""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from . import (
    access_log,
    api_keys,
    assistants,
    calls,
    conversations,
    invites,
    runs,
    shared_links,
    site_models,
    title_requests,
    users,
    workers,
)

__all__ = [
    "access_log",
    "api_keys",
    "assistants",
    "calls",
    "conversations",
    "invites",
    "runs",
    "shared_links",
    "site_models",
    "title_requests",
    "users",
    "workers",
]

admin.site.site_header = admin.site.site_title = _("Chat administration")
admin.site.index_title = _("Overview")
admin.site.enable_nav_sidebar = False  # for a handful of lists, its space is worth more
