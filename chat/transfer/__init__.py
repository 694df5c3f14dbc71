"""Export of conversations, and their import from other chats."""
