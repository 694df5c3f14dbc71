"""The switches of the message box for the tools that this site offers."""

from collections.abc import Collection

from django.utils.translation import gettext as _

from chat.conversations.tools.mcp import servers
from chat.conversations.tools.registry import offered
from chat.models import User


def switches(chosen: Collection[str], user: User) -> list[dict[str, object]]:
    """Return the name, texts and state of each switch, on for those `chosen`; none without tools here."""
    texts = {
        "web_search": (_("Web"), _("Replies can search the web and read pages")),
        "search_my_chats": ("", _("Replies can search my other chats")),
    }
    for server in servers.offered_to(user):
        texts[server.switch] = ("", _("Replies can use %(server)s") % {"server": server.label})
    return [
        {
            "name": name,
            "label": texts.get(name, (name, ""))[0],
            "help": texts.get(name, (name, ""))[1],
            "on": name in chosen,
        }
        for name in offered(user)
    ]
