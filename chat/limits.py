"""Limits that several rooms share."""

MAX_REPLY_CHARS = 400_000  # code points of text and of reasoning
MAX_LIVE_RUNS = 1_500  # a process; further ones are queued
