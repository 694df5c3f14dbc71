"""The log: who asked what, what was answered, and by which attempt. One noun a file."""

from .conversation import Conversation
from .feedback import Feedback
from .invite import Invite
from .message import Message
from .reading import Reading
from .run import Run
from .run_chunk import RunChunk
from .setup import SetupLink
from .user import User
from .worker import Worker

__all__ = [
    "Conversation",
    "Feedback",
    "Invite",
    "Message",
    "Reading",
    "Run",
    "RunChunk",
    "SetupLink",
    "User",
    "Worker",
]
