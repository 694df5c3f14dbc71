"""Tests of `chat/attachments`."""
