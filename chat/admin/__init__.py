"""The administration: review of conversations, accounts, models, and the state of the server.

One subject per file.
"""

from django.contrib import admin
from django.utils.functional import lazy
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from chat.models.site import identity

from . import (  # noqa: F401 - to register the lists
    access_log,
    conversations,
    grants,
    invites,
    mcp,
    model_requests,
    site_models,
    users,
    workers,
)

# Words of Django's pages that the chat's catalogs translate in its own words: they come before Django's.
IN_OWN_WORDS = (
    gettext_noop("Add %(name)s"),
    gettext_noop("Add %s"),
    gettext_noop("Save and add another"),
    gettext_noop("Save and continue editing"),
    gettext_noop("email address"),
)


def _title() -> str:
    name = identity().name
    return gettext("%(name)s administration") % {"name": name} if name else gettext("Chat administration")


admin.site.site_header = admin.site.site_title = lazy(_title, str)()
admin.site.index_title = _("Overview")
admin.site.enable_nav_sidebar = False  # for a handful of lists, its space is worth more
admin.site.disable_action("delete_selected")  # the page of a row says what its deletion means
