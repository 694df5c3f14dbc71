"""The facts of a run that do not change while it streams: the `meta` event."""

import uuid
from dataclasses import dataclass

from chat.models import Message, Run
from chat.wire import sse


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What `event: meta` says of a run. `earlier` is the message's text before it, where it continues one."""

    run: uuid.UUID
    conversation: uuid.UUID
    message: uuid.UUID
    user_message: uuid.UUID
    model: str
    earlier: str = ""
    user: int = 0  # whose it is

    def frame(self) -> bytes:
        payload = {
            "response": "",
            "v": 1,
            "conversation": str(self.conversation),
            "message": str(self.message),
            "user_message": str(self.user_message),
            "run": str(self.run),
            "model": self.model,
        }
        return sse.encode(sse.dumps(payload), event="meta")


def run_info_of(run: Run) -> RunInfo:
    """`run` with its message loaded."""
    message: Message = run.message
    assert message.parent_id is not None
    earlier = message.text[: run.text_offset]
    return RunInfo(
        run.pk, run.conversation_id, run.message_id, message.parent_id, run.model, earlier, run.user_id
    )
