"""Tests of chat/files/passages."""
