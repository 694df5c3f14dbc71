"""The administration: the review of what was said, and how the server does. One noun a file."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from . import calls, conversations, invites, keys, models, people, readings, runs, workers

__all__ = ["calls", "conversations", "invites", "keys", "models", "people", "readings", "runs", "workers"]

admin.site.site_header = admin.site.site_title = _("Chat administration")
admin.site.index_title = _("Overview")
admin.site.enable_nav_sidebar = False  # a handful of lists: the room is worth more than a second way to them
