"""The switches of the message box for the tools that this site offers."""

from django.utils.translation import gettext as _

from chat.conversations.tools.registry import offered
from chat.models import Conversation


def switches(conversation: Conversation | None) -> list[dict[str, object]]:
    """Return the name, texts and state of each switch; none where the site offers no tool."""
    chosen = conversation.tools if conversation else []
    texts = {
        "web_search": (_("Web"), _("Replies can search the web and read pages")),
        "search_my_chats": ("", _("Replies can search my other chats")),
    }
    return [
        {
            "name": name,
            "label": texts.get(name, (name, ""))[0],
            "help": texts.get(name, (name, ""))[1],
            "on": name in chosen,
        }
        for name in offered()
    ]
