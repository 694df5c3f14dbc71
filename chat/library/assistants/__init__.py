"""Assistants: their content and its versions, the variables in their instructions, and their publication."""
