"""URLs of the chat: the whole HTTP contract on one screen."""

from django.urls import path, register_converter
from django.urls.converters import PathConverter, StringConverter

from .api import account, openai, openapi, workers_ai
from .api import conversations as conversations_api
from .views import health, model_picker, pages, sharing, site
from .views.accounts import accounts
from .views.conversations import (
    conversation_changes,
    conversation_pages,
    conversations,
    exports,
    messages,
    runs,
    search,
    shortcuts,
    start_page,
    texts,
)
from .views.files import attachment_parts, attachments, document_text
from .views.library import assistants, prompts
from .views.requests import access_log, parameter_form
from .views.settings import data, keys, memory, preferences, usage


class NameConverter(PathConverter):
    """Match any model name, even with line breaks: the API itself reports an unknown model."""

    regex = "(?s:.+)"


class PictureConverter(StringConverter):
    """Match one of the two sizes of the site's picture."""

    regex = "icon|picture"


class VersionConverter(StringConverter):
    """Match a version of the site's identity."""

    regex = "[0-9a-f]{16}"


register_converter(NameConverter, "name")
register_converter(PictureConverter, "site_picture")
register_converter(VersionConverter, "version")
app_name = "chat"
WORKERS_AI_PREFIX = "client/v4/accounts/<str:account>/ai/"  # any account id: the API key identifies the user
SHARED_ATTACHMENTS_PREFIX = "s/<str:token>/attachments/"
urlpatterns = [
    path("runs/<uuid:run>/stream/", runs.stream, name="stream"),
    path("runs/<uuid:run>/stop/", runs.stop, name="stop"),
    path("runs/<uuid:run>/steps/<int:number>/allow/", runs.allow_step, name="allow_step"),
    path("runs/<uuid:run>/steps/<int:number>/decline/", runs.decline_step, name="decline_step"),
    path("", pages.home, name="home"),
    path("c/", messages.send, name="new"),
    path("c/<uuid:conversation>/", pages.conversation, name="conversation"),
    path("c/<uuid:conversation>/messages/", messages.send, name="send"),
    path("c/<uuid:conversation>/rename/", conversations.rename, name="rename"),
    path("c/<uuid:conversation>/settings/", conversations.settings, name="settings"),
    path("c/<uuid:conversation>/state/", conversations.state, name="state"),
    path("c/<uuid:conversation>/context/", conversations.context, name="context"),
    path("c/<uuid:conversation>/seen/", conversations.seen, name="seen"),
    path("c/<uuid:conversation>/delete/", conversations.delete, name="delete"),
    path("c/<uuid:conversation>/undelete/", conversations.undelete, name="undelete"),
    path("c/<uuid:conversation>/export/", exports.conversation, name="export"),
    path("c/<uuid:conversation>/share/", sharing.share_conversation, name="share_conversation"),
    path("c/<uuid:conversation>/tags/", conversation_changes.tags, name="tags"),
    path("messages/<uuid:message>/edit/", messages.edit, name="edit"),
    path("messages/<uuid:message>/regenerate/", messages.regenerate, name="regenerate"),
    path("messages/<uuid:message>/continue/", messages.continue_reply, name="continue"),
    path("messages/<uuid:message>/select/", messages.select, name="select"),
    path("messages/<uuid:message>/feedback/", messages.feedback, name="feedback"),
    path("messages/<uuid:message>/outcome/", runs.outcome, name="outcome"),
    path("messages/<uuid:message>/source/", messages.source, name="source"),
    path("messages/<uuid:message>/text/", texts.text, name="text"),
    path("messages/<uuid:message>/changes/", texts.changes, name="changes"),
    path("messages/<uuid:message>/run/", texts.run, name="run"),
    path("mermaid-12.0.0.js", texts.mermaid, name="mermaid"),
    path("messages/<uuid:message>/actions/", messages.actions, name="message_actions"),
    path("messages/<uuid:message>/fork/", messages.fork, name="fork"),
    path("messages/<uuid:message>/delete/", messages.delete, name="delete_message"),
    path("messages/<uuid:message>/undelete/", messages.undelete, name="undelete_message"),
    path("messages/<uuid:message>/share/", sharing.share, name="share"),
    path("s/<str:token>/", sharing.shared, name="shared"),
    path(f"{SHARED_ATTACHMENTS_PREFIX}<uuid:attachment>/", sharing.shared_picture, name="shared_picture"),
    path(
        "s/<str:token>/attachments/<uuid:document>/text/",
        sharing.shared_document,
        name="shared_document",
    ),
    path("s/<str:token>/continue/", sharing.continue_shared, name="continue_shared"),
    path("attachments/parts/", attachment_parts.parts, name="attachment_parts"),
    path("attachments/", attachments.upload, name="attachments"),
    path("attachments/<uuid:attachment>/", attachments.one, name="attachment"),
    path("attachments/<uuid:document>/text/", document_text.document_text, name="document_text"),
    path("conversations/", conversation_pages.conversations, name="list"),
    path("conversations/archive/", conversation_pages.archive, name="archive"),
    path("conversations/export/", exports.several, name="export_several"),
    path("conversations/trash/", conversation_pages.trash, name="trash"),
    path("search/", search.find, name="search"),
    path("shortcuts/", shortcuts.shortcuts, name="shortcuts"),
    path("models/", model_picker.choice, name="models"),
    path("models/favourites/", model_picker.favourite, name="favourites"),
    path("models/parameters/", parameter_form.of_model, name="parameters"),
    path("prompts/", prompts.menu, name="prompt_menu"),
    path("prompts/<uuid:prompt>/", prompts.text, name="prompt_text"),
    path("readings/", access_log.readings, name="readings"),  # former address
    path("checklist/dismiss/", start_page.dismiss_checklist, name="dismiss_checklist"),
    path("settings/", preferences.preferences, name="preferences"),
    path("settings/instructions/", preferences.instructions, name="my_instructions"),
    path("settings/memory/", memory.listing, name="memory"),
    path("settings/memory/switch/", memory.switch, name="memory_switch"),
    path("settings/memory/delete/", memory.delete_all, name="delete_memories"),
    path("settings/memory/<uuid:memory>/", memory.one, name="one_memory"),
    path("settings/memory/<uuid:memory>/delete/", memory.delete, name="delete_memory"),
    path("settings/assistants/", assistants.listing, name="assistants"),
    path("settings/assistants/new/", assistants.new, name="new_assistant"),
    path("settings/assistants/ready/", assistants.copy_ready, name="ready_assistant"),
    path("settings/assistants/<uuid:assistant>/", assistants.one, name="assistant"),
    path("settings/assistants/<uuid:assistant>/delete/", assistants.delete, name="delete_assistant"),
    path("settings/assistants/<uuid:assistant>/undelete/", assistants.undelete, name="undelete_assistant"),
    path("settings/assistants/<uuid:assistant>/duplicate/", assistants.duplicate, name="duplicate_assistant"),
    path("settings/assistants/<uuid:assistant>/publish/", assistants.publish, name="publish_assistant"),
    path("settings/usage/", usage.usage, name="usage"),
    path("settings/account/", accounts.change, name="account"),
    path("settings/readings/", access_log.readings, name="my_readings"),
    path("settings/data/", data.data, name="data"),
    path("settings/data/import/", data.upload, name="import"),
    path("settings/data/import/start/", data.start, name="import_start"),
    path("settings/data/import/stop/", data.stop, name="import_stop"),
    path("settings/data/import/progress/", data.progress, name="import_progress"),
    path("settings/data/export/", exports.everything, name="export_all"),
    path("settings/shared/", sharing.shared_links, name="shared_links"),
    path("settings/shared/<uuid:link>/revoke/", sharing.revoke, name="revoke_shared_link"),
    path("settings/prompts/", prompts.listing, name="prompts"),
    path("settings/prompts/new/", prompts.new, name="new_prompt"),
    path("settings/prompts/<uuid:prompt>/", prompts.one, name="prompt"),
    path("settings/prompts/<uuid:prompt>/use/", prompts.use, name="use_prompt"),
    path("settings/prompts/<uuid:prompt>/delete/", prompts.delete, name="delete_prompt"),
    path("settings/prompts/<uuid:prompt>/withdraw/", prompts.withdraw, name="withdraw_prompt"),
    path("settings/keys/", keys.keys, name="keys"),
    path("settings/api/", keys.examples, name="api"),
    path("settings/keys/<uuid:key>/revoke/", keys.revoke, name="revoke"),
    path("v1/chat/completions", openai.chat_completions, name="chat_completions"),
    path("v1/openapi.json", openapi.openapi, name="openapi"),
    path("v1/conversations", conversations_api.listing, name="api_conversations"),
    path("v1/conversations/<uuid:conversation>", conversations_api.one, name="api_conversation"),
    path("v1/export", conversations_api.everything, name="api_export"),
    path("v1/models", openai.models, name="openai_models"),
    path("v1/models/<name:model>", openai.model, name="openai_model"),
    path(f"{WORKERS_AI_PREFIX}run", workers_ai.run_named, name="ai_run_named"),
    path(f"{WORKERS_AI_PREFIX}run/<name:model>", workers_ai.run, name="ai_run"),
    path(f"{WORKERS_AI_PREFIX}v1/chat/completions", openai.chat_completions, name="ai_chat_completions"),
    path(f"{WORKERS_AI_PREFIX}models/search", account.search, name="ai_models"),
    path(f"{WORKERS_AI_PREFIX}models/schema", account.schema, name="ai_schema"),
    path(f"{WORKERS_AI_PREFIX}finetunes", account.finetunes, name="ai_finetunes"),
    path("client/v4/user/tokens/verify", account.verify, name="verify_token"),
    path("client/v4/accounts/<str:account>/tokens/verify", account.verify, name="verify_account_token"),
    path("site/<version:version>/chat.webmanifest", site.manifest, name="manifest"),
    path("site/<site_picture:kind>/<version:version>/", site.picture, name="site_picture"),
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
]
