"""Helpers that several folders of tests share: servers, databases, people, waiting."""
