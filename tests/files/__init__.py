"""Tests of `chat/files`."""
