"""The administration: review of conversations, accounts, models, and the state of the server.

One subject per file.
"""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from . import (  # noqa: F401 - to register the lists
    access_log,
    conversations,
    grants,
    invites,
    model_requests,
    site_models,
    users,
    workers,
)

admin.site.site_header = admin.site.site_title = _("Chat administration")
admin.site.index_title = _("Overview")
admin.site.enable_nav_sidebar = False  # for a handful of lists, its space is worth more
