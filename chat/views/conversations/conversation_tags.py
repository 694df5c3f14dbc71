"""The tags of one conversation: a page, and for scripts the inside of a dialog."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from chat.conversations.arrangement.tags import MAX_TAGS_PER_CONVERSATION, tag_names, tags_of
from chat.limits import MAX_TAG_CHARS

from ..requests import access
from ..requests.errors import is_part


@access.require_methods("GET", "HEAD")
def tags(request: HttpRequest, conversation: uuid.UUID) -> HttpResponse:
    """Show the tags of a conversation, with a form for another one and the person's other tags."""
    own_conversation = access.get_conversation_or_404(request, conversation)
    has = tags_of([own_conversation.pk]).get(own_conversation.pk, [])
    context = {
        "conversation": own_conversation,
        "has": has,
        "others": [name for name in tag_names(access.get_user(request)) if name not in has],
        "longest_tag": MAX_TAG_CHARS,
        "most": MAX_TAGS_PER_CONVERSATION,
        "full": len(has) >= MAX_TAGS_PER_CONVERSATION,
    }
    template = "chat/_tags.html" if is_part(request) else "chat/tags.html"
    return render(request, template, context)
