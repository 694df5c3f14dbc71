"""URLs of the chat: the whole HTTP contract on one screen."""

from django.urls import path, register_converter
from django.urls.converters import PathConverter

from .api import model_search, openai, openapi, tokens, workers_ai
from .views import (
    access_log,
    conversation_list,
    conversation_state,
    conversations,
    feedback,
    health,
    keys,
    message_source,
    message_versions,
    messages,
    model_picker,
    outcome,
    pages,
    parameter_form,
    runs,
    settings,
)


class NameConverter(PathConverter):
    """Match any model name, even with line breaks: the API itself reports an unknown model."""

    regex = "(?s:.+)"


register_converter(NameConverter, "name")
app_name = "chat"
ACCOUNT = "client/v4/accounts/<str:account>/ai/"  # any account id: the API key identifies the user
urlpatterns = [
    path("", pages.home, name="home"),
    path("c/", messages.new_conversation, name="new"),
    path("c/<uuid:conversation>/", pages.conversation, name="conversation"),
    path("c/<uuid:conversation>/messages/", messages.send, name="send"),
    path("c/<uuid:conversation>/rename/", conversations.rename, name="rename"),
    path("c/<uuid:conversation>/settings/", conversations.settings, name="settings"),
    path("c/<uuid:conversation>/state/", conversation_state.state, name="state"),
    path("c/<uuid:conversation>/context/", conversation_state.context, name="context"),
    path("c/<uuid:conversation>/seen/", conversations.seen, name="seen"),
    path("c/<uuid:conversation>/delete/", conversations.delete, name="delete"),
    path("c/<uuid:conversation>/undelete/", conversations.undelete, name="undelete"),
    path("conversations/", conversation_list.conversations, name="list"),
    path("models/", model_picker.choice, name="models"),
    path("models/parameters/", parameter_form.of_model, name="parameters"),
    path("messages/<uuid:message>/edit/", messages.edit, name="edit"),
    path("messages/<uuid:message>/regenerate/", messages.regenerate, name="regenerate"),
    path("messages/<uuid:message>/continue/", messages.continue_reply, name="continue"),
    path("messages/<uuid:message>/select/", message_versions.select, name="select"),
    path("messages/<uuid:message>/feedback/", feedback.feedback, name="feedback"),
    path("messages/<uuid:message>/outcome/", outcome.outcome, name="outcome"),
    path("messages/<uuid:message>/source/", message_source.source, name="source"),
    path("runs/<uuid:run>/stream/", runs.stream, name="stream"),
    path("runs/<uuid:run>/stop/", runs.stop, name="stop"),
    path("readings/", access_log.readings, name="readings"),
    path("settings/", settings.settings, name="preferences"),
    path("settings/keys/", keys.keys, name="keys"),
    path("settings/api/", keys.examples, name="api"),
    path("settings/keys/<uuid:key>/revoke/", keys.revoke, name="revoke"),
    path("v1/chat/completions", openai.chat_completions, name="chat_completions"),
    path("v1/openapi.json", openapi.openapi, name="openapi"),
    path("v1/models", openai.models, name="openai_models"),
    path("v1/models/<name:model>", openai.model, name="openai_model"),
    path(f"{ACCOUNT}run", workers_ai.run_named, name="ai_run_named"),
    path(f"{ACCOUNT}run/<name:model>", workers_ai.run, name="ai_run"),
    path(f"{ACCOUNT}v1/chat/completions", openai.chat_completions, name="ai_chat_completions"),
    path(f"{ACCOUNT}models/search", model_search.search, name="ai_models"),
    path(f"{ACCOUNT}models/schema", model_search.schema, name="ai_schema"),
    path(f"{ACCOUNT}finetunes", model_search.finetunes, name="ai_finetunes"),
    path("client/v4/user/tokens/verify", tokens.verify, name="verify_token"),
    path("client/v4/accounts/<str:account>/tokens/verify", tokens.verify, name="verify_account_token"),
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
]
