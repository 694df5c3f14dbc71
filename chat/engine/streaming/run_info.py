"""The facts of a run that a stream states first: the `meta` event."""

import uuid
from dataclasses import dataclass

from chat.models import Message, Run
from chat.wire import sse


@dataclass(frozen=True, slots=True)
class RunInfo:
    """The ids and the model for `event: meta`, and facts for the feeds.

    `earlier` is the text that the message had before this run; not empty if the run continues a reply.
    """

    run: uuid.UUID
    conversation: uuid.UUID
    message: uuid.UUID
    user_message: uuid.UUID
    model: str
    earlier: str = ""
    user: int = 0  # the id of the run's user

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
    """Return the facts of `run`, whose message is loaded."""
    message: Message = run.message
    assert message.parent_id is not None
    earlier = message.text[: run.text_offset]
    return RunInfo(
        run.pk, run.conversation_id, run.message_id, message.parent_id, run.model, earlier, run.user_id
    )
