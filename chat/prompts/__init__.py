"""The prompt library: a person's prompts, and those that staff share with everybody or with groups."""
