"""Generated titles: one request to a small model after a conversation's first reply."""
