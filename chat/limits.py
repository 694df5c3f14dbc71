"""Limits that several rooms share."""

LONGEST_REPLY = 400_000  # code points of text and of reasoning
LIVE_RUNS = 1_500  # a process; further ones are queued
