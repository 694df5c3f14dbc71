"""The tool that keeps a fact in a person's memory, which is there when the person asks for it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.urls import reverse
from django.utils.translation import gettext as _

from chat.db.executor import run_in_db
from chat.exceptions import RequestError
from chat.library import memory
from chat.models import Memory, User

from .tool import CallContext, ToolFailed, ToolResult


class Remember:
    """The tool `remember(fact)`."""

    name = "remember"
    declaration: ClassVar[dict[str, Any]] = {
        "name": name,
        "description": "Keep one short fact about the person for later chats. Call it only if the person "
        "asks you to remember something, with the fact in the person's words.",
        "parameters": {
            "type": "object",
            "properties": {"fact": {"type": "string", "description": "One sentence"}},
            "required": ["fact"],
        },
    }

    def permission(self, arguments: Mapping[str, Any], context: CallContext) -> None:
        return None

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        fact = arguments.get("fact")
        if not isinstance(fact, str):
            raise ToolFailed(_("The fact is missing."))
        try:
            kept, is_new = await run_in_db(_remember, context.user, fact)
        except RequestError as refusal:
            raise ToolFailed(str(refusal)) from None
        text = f"Kept: {kept.fact}"
        if not is_new:  # no way back: it would delete what was kept before
            return ToolResult(_("Already in your memory"), text=text)
        return ToolResult(
            _("Kept in your memory"), text=text, undo=reverse("chat:one_memory", args=[kept.pk])
        )


def _remember(user: int, fact: str) -> tuple[Memory, bool]:
    return memory.remember(User.objects.get(pk=user), fact)
