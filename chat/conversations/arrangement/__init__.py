"""The order of a person's conversations: pins, archive, tags, trash, and the undo of such changes."""
