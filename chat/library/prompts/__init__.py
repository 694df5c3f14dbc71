"""The prompt library: a person's prompts, and those that staff publish to everybody or to groups."""
