"""The order of columns in PostgreSQL's tables at 5b079f9, whose backups do not name them."""

FORMER_COLUMNS = {
    "chat_apikey": (
        "id name prefix digest may_run may_list keeps_conversations created expires last_used revoked "
        "user_id may_set_gateway may_export"
    ),
    "chat_assistantdocument": "id position attachment_id version_id",
    "chat_attachment": (
        "id position media_type name alt width height size created message_id owner_id sha256 pages tokens"
    ),
    "chat_call": (
        "id model dialect streamed status finish_reason error_code error_message request_id "
        "prompt_tokens completion_tokens cached_tokens neurons created first_token finished key_id "
        "run_id user_id worker_id gateway gateway_cached gateway_log gateway_step epoch served_by"
    ),
    "chat_conversation": (
        "id title model system created updated deleted user_id active_leaf_id last_seen parameters "
        "title_state archived_at pinned_at temporary assistant_version_id"
    ),
    "chat_conversationaccess": (
        "id at reader_key reader owner_key owner conversation title address kind words"
    ),
    "chat_feedback": "id up reason updated message_id user_id conversation",
    "chat_message": "id role text reasoning model created conversation_id parent_id selected_at deleted",
    "chat_preferences": (
        "user_id theme text_size announce enter language time_zone model instructions updated favourites"
    ),
    "chat_run": (
        "id client_key fingerprint model max_tokens status stop_requested text_offset text_length "
        "reasoning_offset reasoning_length finish_reason error_code error_message request_id "
        "prompt_tokens completion_tokens cached_tokens neurons created started first_token finished "
        "conversation_id message_id user_id worker_id first_text_at parameters gateway gateway_log "
        "gateway_cached gateway_step answered_by fallback_reason retry_at epoch context_start served_by "
        "cited"
    ),
}
