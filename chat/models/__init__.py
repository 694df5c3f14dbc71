"""The database models: the log of questions, replies and attempts, the accounts, and the site's own state.

One subject per file.
"""

from .api_key import ApiKey
from .call import Call
from .conversation import Conversation
from .feedback import Feedback
from .identifier import Identifier
from .invite import Invite
from .maintenance_task import MaintenanceTask
from .message import Message
from .model_list import ModelList
from .offered_model import OfferedModel
from .reading import Reading, ReadingOwner
from .reading_prune import ReadingPrune
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
    "Identifier",
    "Invite",
    "MaintenanceTask",
    "Message",
    "ModelList",
    "OfferedModel",
    "Reading",
    "ReadingOwner",
    "ReadingPrune",
    "Run",
    "RunChunk",
    "SetupLink",
    "User",
    "Worker",
]
