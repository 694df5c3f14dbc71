"""The database models: the log of questions, replies and attempts, the accounts, and the site's own state.

One subject per file.
"""

from .api_key import ApiKey
from .assistant import Assistant, AssistantDocument, AssistantVersion
from .attachment import Attachment, AttachmentFile, DocumentPage, FileDeletion
from .call import Call
from .catalog_state import CatalogState
from .citation import Citation
from .conversation import Conversation
from .conversation_access import ConversationAccess, ConversationAccessOwner, ConversationAccessPrune
from .feedback import Feedback
from .identifier import Identifier
from .import_job import ImportJob
from .imported_runs import ImportedRuns
from .invite import Invite
from .maintenance_task import MaintenanceTask
from .message import Message
from .passage_vectors import PassageVectors
from .preferences import Preferences
from .prompt import Prompt
from .purged_usage import PurgedUsage
from .run import Run
from .run_chunk import RunChunk
from .search_document import SearchBuild, SearchDocument
from .setup import SetupLink
from .shared_link import SharedLink
from .site_model import SiteModel
from .tag import Tag
from .title_request import TitleRequest
from .user import User
from .worker import Worker

__all__ = [
    "ApiKey",
    "Assistant",
    "AssistantDocument",
    "AssistantVersion",
    "Attachment",
    "AttachmentFile",
    "Call",
    "CatalogState",
    "Citation",
    "Conversation",
    "ConversationAccess",
    "ConversationAccessOwner",
    "ConversationAccessPrune",
    "DocumentPage",
    "Feedback",
    "FileDeletion",
    "Identifier",
    "ImportJob",
    "ImportedRuns",
    "Invite",
    "MaintenanceTask",
    "Message",
    "PassageVectors",
    "Preferences",
    "Prompt",
    "PurgedUsage",
    "Run",
    "RunChunk",
    "SearchBuild",
    "SearchDocument",
    "SetupLink",
    "SharedLink",
    "SiteModel",
    "Tag",
    "TitleRequest",
    "User",
    "Worker",
]
