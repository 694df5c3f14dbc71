"""Tests of chat/documents."""
