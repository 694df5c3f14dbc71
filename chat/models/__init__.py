"""The log: who asked what, what was answered, and by which attempt. One noun a file."""

from .api_key import ApiKey
from .call import Call
from .conversation import Conversation
from .feedback import Feedback
from .invite import Invite
from .message import Message
from .model_list import ModelList
from .offered_model import OfferedModel
from .reading import Reading
from .run import Run
from .run_chunk import RunChunk
from .setup import SetupLink
from .user import User
from .worker import Worker

__all__ = [
    "ApiKey",
    "Call",
    "Conversation",
    "Feedback",
    "Invite",
    "Message",
    "ModelList",
    "OfferedModel",
    "Reading",
    "Run",
    "RunChunk",
    "SetupLink",
    "User",
    "Worker",
]
