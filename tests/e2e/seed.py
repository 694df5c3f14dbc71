"""Conversations that are too long to be asked for one by one, written past the engine."""

import json
import subprocess
import sys

from tests.databases import ROOT
from tests.server import Server

# Read by `manage.py shell`: turns of a question and a reply, the newest of which is shown.
SCRIPT = """
import json, sys, uuid
from datetime import timedelta
from django.utils import timezone
from chat.models import Conversation, Message, Run, User
owner, texts = json.loads({given!r})
user = User.objects.get(username=owner)
conversation = Conversation.objects.create(user=user, title="A long talk", model="@cf/zai-org/glm-4.7-flash")
begun = timezone.now() - timedelta(days=1)
made = []
for n, text in enumerate(texts):
    made.append(Message(conversation=conversation, parent=made[-1] if made else None, text=text,
        role=("user", "assistant")[n % 2], model="@cf/zai-org/glm-4.7-flash" if n % 2 else "",
        created=begun + timedelta(seconds=n)))
Message.objects.bulk_create(made, 500)
Conversation.objects.filter(pk=conversation.pk).update(active_leaf=made[-1])
print(conversation.pk)
"""


def talk(server: Server, owner: str, texts: list[str]) -> str:
    """A conversation of these questions and replies, one after the other. Returns its address."""
    code = SCRIPT.format(given=json.dumps([owner, texts]))
    command = [sys.executable, "manage.py", "shell", "-v0"]
    done = subprocess.run(
        command, input=code, cwd=ROOT, env=server.env, check=True, stdout=subprocess.PIPE, text=True
    )
    return f"/c/{done.stdout.strip()}/"


def numbered(count: int, lines: int = 3) -> list[str]:
    """So many messages, each of which says which one it is."""
    more = "".join(f"\n\nLine {line} of it." for line in range(lines))
    return [f"Message {n}.{more}" for n in range(1, count + 1)]
