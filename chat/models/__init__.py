"""The database models: the log of questions, replies and attempts, the accounts, and the site's own state.

One subject per file.
"""

from .api_key import ApiKey
from .attachment import Attachment, AttachmentFile, DocumentPage, FileDeletion, PassageVectors
from .citation import Citation, ImportedRuns
from .conversation import Conversation, Tag
from .conversation_access import ConversationAccess, ConversationAccessOwner, ConversationAccessPrune
from .identifier import Identifier
from .import_job import ImportJob
from .library import Assistant, AssistantDocument, AssistantVersion, Memory, Prompt
from .links import Invite, SetupLink, SharedLink
from .mcp import McpServer, McpTool
from .message import Feedback, Message
from .model_request import Call, TitleRequest
from .preferences import Preferences
from .run import Run, RunChunk
from .search_document import SearchBuild, SearchDocument
from .site import Site
from .site_model import CatalogState, SiteDoor, SiteModel
from .step import Step
from .usage import PurgedUsage
from .user import User
from .worker import MaintenanceTask, Worker
