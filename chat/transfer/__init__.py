"""Export of conversations, and their import from other chats. Imports only `model_catalog` and below."""
